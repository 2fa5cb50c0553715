//! Studies: programs that measure one question and write what they found.

use crate::output::Output;
use crate::trouble::Trouble;

/// What `dahl study` is told.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The study's name.
    name: String,
}

/// Runs a study.
pub(crate) fn run(arguments: &Arguments, _output: &Output) -> Result<(), Trouble> {
    Err(crate::choices::unknown("study", &arguments.name, "dahl", &[]))
}
