//! `dahl plan`: plans from files of numbers.

mod memory;
mod pipeline;
mod profile;
mod schedule;
mod table;

pub(crate) use schedule::least;

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl plan memory buffers.csv                 offsets with the least peak
  dahl plan memory buffers.csv --capacity 8    offsets within 8 bytes
  dahl plan pipeline --profile profile.txt --machines 4 --bandwidth 1e9
  dahl plan schedule tasks.toml                the schedule with the least time";

/// The arguments of `dahl plan`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    plan: Plan,
}

#[derive(clap::Subcommand)]
enum Plan {
    /// Gives buffers with known lifetimes their offsets in one block of memory.
    Memory(memory::Arguments),
    /// Divides a network into stages of a pipeline, for several machines.
    Pipeline(pipeline::Arguments),
    /// Finds which worker runs which task when, in the least time or with the least energy.
    Schedule(schedule::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    match &arguments.plan {
        Plan::Memory(memory) => memory::run(memory, output),
        Plan::Pipeline(pipeline) => pipeline::run(pipeline, output),
        Plan::Schedule(schedule) => schedule::run(schedule, output),
    }
}
