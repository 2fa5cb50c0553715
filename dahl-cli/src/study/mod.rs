//! Studies: programs that measure one question and write what they found.

use std::process::ExitCode;

/// What `dahl study` is told.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The study's name.
    name: String,
}

/// Runs a study.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    eprintln!("dahl: there is no study `{}`", arguments.name);
    ExitCode::from(2)
}
