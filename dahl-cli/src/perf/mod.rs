//! `dahl perf`: the durations of codelets, from the performance models that runs have stored.

mod explain;
mod family;
mod list;
mod plot;
mod selection;
mod show;

use std::path::{Path, PathBuf};

use clap::ValueHint;
use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::output::Output;
use crate::trouble::Trouble;
use selection::Selection;

const EXAMPLES: &str = "\
Examples:
  DAHL_PERF_DIR=models cargo run --release    run a program that stores its models
  dahl perf --dir models ls                   the codelets that it ran
  dahl perf --dir models explain matmul       why one took the time that it took";

/// The arguments of `dahl perf`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    from: From,
    #[command(subcommand)]
    question: Question,
}

/// Where the models are stored.
#[derive(clap::Args)]
pub(crate) struct From {
    /// The folder where performance models are stored.
    // Any text is allowed, so that an empty variable is treated as one that is not set, as a runtime does.
    #[arg(long, global = true, value_name = "FOLDER", env = "DAHL_PERF_DIR", hide_env_values = true)]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from), value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
    /// Looks at this machine alone: its name, or the beginning of it, as `perf ls` says it.
    #[arg(long, global = true, value_name = "NAME")]
    machine: Option<String>,
}

impl From {
    fn folder(&self) -> Option<&Path> {
        self.dir.as_deref().filter(|folder| !folder.as_os_str().is_empty())
    }
}

#[derive(clap::Subcommand)]
enum Question {
    /// Lists the codelets that have run, by machine.
    Ls(list::Arguments),
    /// Shows all that is known of a codelet: by kernel, element types, kind of worker, and footprint.
    Show(show::Arguments),
    /// Plots the time of a codelet against its size, with the fitted curve, as SVG.
    Plot(plot::Arguments),
    /// Says how long a codelet takes on average, and why that varies.
    Explain(explain::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let from = &arguments.from;
    match &arguments.question {
        Question::Ls(_) => list::run(&Selection::read(from)?, output),
        Question::Show(show) => show::run(show, &Selection::read(from)?, output),
        Question::Plot(plot) => plot::run(plot, &Selection::read(from)?, output),
        Question::Explain(explain) => explain::run(explain, from, output),
    }
}
