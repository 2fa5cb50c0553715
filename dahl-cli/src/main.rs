//! The command `dahl`.

mod study;

use clap::{Parser, Subcommand};

/// Looks at machines, performance models and traces of dahl, and runs its studies.
#[derive(Parser)]
#[command(name = "dahl", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a study: a CSV file and plots, in a folder of their own.
    Study(study::Arguments),
}

fn main() -> std::process::ExitCode {
    match Arguments::parse().command {
        Command::Study(arguments) => study::run(&arguments),
    }
}
