//! `dahl program`: programs that `Graph::save` has saved, without the codelets that they call.

mod diff;
mod layout;
mod memory;
mod page;
mod show;

use std::path::Path;

use dahl::program::{Listing, ListingError};

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl program show step.program                    a line for each task
  dahl program show step.program --html step.html   the graph and the memory plan as a page
  dahl program diff step.program step.program       what has changed: nothing
  dahl program memory step.program                  the places of the arrays in memory";

/// The arguments of `dahl program`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    program: Program,
}

#[derive(clap::Subcommand)]
enum Program {
    /// Prints a program: its tasks with their arrays and lines. Draws it as DOT and as a page.
    Show(show::Arguments),
    /// Compares two programs: which tasks were added, removed and changed, and in which fields.
    Diff(diff::Arguments),
    /// Gives the arrays of a program their places in one block of memory, in an order with little memory.
    Memory(memory::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    match &arguments.program {
        Program::Show(show) => show::run(show, output),
        Program::Diff(diff) => diff::run(diff, output),
        Program::Memory(memory) => memory::run(memory, output),
    }
}

/// Reads a program. An error names the file, and the line or the field.
fn read(path: &Path) -> Result<Listing, Trouble> {
    Listing::load(path).map_err(|error: ListingError| Trouble::Input(error.to_string()))
}
