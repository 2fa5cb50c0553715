//! The command `dahl`: data that runs have recorded about the machine, codelets and time, as text and, with `--json`,
//! for programs.
//!
//! Each subcommand is a module with its `Arguments`, and `run`, which makes a report and passes it to [`Output`].
//! Errors are [`Trouble`]s, which only this file prints.

mod bench;
mod calibration;
mod choices;
mod completions;
mod load;
mod machine;
mod output;
mod perf;
mod plan;
mod plot;
mod program;
mod progress;
mod recorded;
mod simulate;
mod study;
mod table;
mod trace;
mod trouble;
mod units;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use output::Output;
use trouble::Trouble;

const AFTER_HELP: &str = "\
Examples:
  dahl machine
  dahl perf --dir models explain matmul
  dahl trace summary run.json
  dahl plan memory buffers.csv
  dahl simulate step.program --machine machine.toml
  dahl program show step.program
  dahl plot training.csv
  dahl bench overhead

Exit codes:
  0  it is done, or whoever read the output wanted no more of it
  1  it was understood, and failed: nothing is stored, a file cannot be written, a task failed, buffers do not fit,
     two programs differ
  2  it was not understood: wrong arguments, a file that cannot be read, a name that is not there";

/// Looks at machines, performance models, traces, programs and trainings of dahl, computes plans, and runs benchmarks and studies.
#[derive(Parser)]
#[command(name = "dahl", version, after_help = AFTER_HELP)]
struct Arguments {
    #[command(flatten)]
    output: Output,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows what there is to compute with: processors, memories, workers, devices, and how fast memory is.
    Machine(machine::Arguments),
    /// Tells how long codelets took, by the performance models that runs have stored.
    Perf(perf::Arguments),
    /// Reads a trace of a run: a summary, a page to look at, and formats of other programs.
    Trace(trace::Arguments),
    /// Computes plans: offsets of buffers in memory, stages of a pipeline, schedules of tasks.
    Plan(plan::Arguments),
    /// Simulates a run, or a saved program, on a machine that need not exist.
    Simulate(simulate::Arguments),
    /// Looks at saved programs: prints, draws and compares them, and plans their memory.
    Program(program::Arguments),
    /// Draws the learning curves of a training, from its CSV file, as SVG.
    Plot(plot::Arguments),
    /// Measures what the runtime itself costs.
    Bench(bench::Arguments),
    /// Runs a study: a CSV file and plots, in a folder of their own.
    Study(study::Arguments),
    /// Prints a script by which a shell completes this command's words.
    Completions(completions::Arguments),
}

impl Command {
    fn run(&self, output: &Output) -> Result<(), Trouble> {
        match self {
            Self::Machine(arguments) => machine::run(arguments, output),
            Self::Perf(arguments) => perf::run(arguments, output),
            Self::Trace(arguments) => trace::run(arguments, output),
            Self::Plan(arguments) => plan::run(arguments, output),
            Self::Simulate(arguments) => simulate::run(arguments, output),
            Self::Program(arguments) => program::run(arguments, output),
            Self::Plot(arguments) => plot::run(arguments, output),
            Self::Bench(arguments) => bench::run(arguments, output),
            Self::Study(arguments) => study::run(arguments, output),
            Self::Completions(script) => completions::run(script, Arguments::command(), output),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.command.run(&arguments.output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => trouble.report(),
    }
}
