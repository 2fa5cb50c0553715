//! `dahl bench`: the cost of the runtime itself on this machine.

mod overhead;

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl bench overhead
  dahl bench overhead --workers 1,2,4 --json";

/// The arguments of `dahl bench`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(clap::Subcommand)]
enum Bench {
    /// Measures what a task costs beside its kernel: from the submission of empty tasks to the end of the last.
    Overhead(overhead::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    match &arguments.bench {
        Bench::Overhead(arguments) => overhead::run(arguments, output),
    }
}
