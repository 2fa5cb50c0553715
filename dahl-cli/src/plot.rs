//! `dahl plot FILE`: the learning curves of a training.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use dahl_nn::training::LearningCurves;
use serde::Serialize;

use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl plot training.csv                 draws training.svg
  dahl plot training.csv -o loss.svg";

/// The arguments of `dahl plot`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A CSV file with a line of names, as `History::to_csv` writes it: the epoch or step, then results.
    file: PathBuf,
    /// The file to write; `-` is the standard output. [default: beside FILE, with the ending svg]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// The plot.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    steps: usize,
    results: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let file = arguments.output.clone().unwrap_or_else(|| arguments.file.with_extension("svg"));
    let is_standard = file.as_os_str() == "-";
    if is_standard && output.is_json() {
        let wrong = "`--output -` and `--json` both want the standard output: give one of them";
        return Err(Trouble::Input(wrong.to_owned()));
    }
    let curves =
        LearningCurves::from_csv(&arguments.file).map_err(|error| Trouble::Input(error.to_string()))?;
    if is_standard {
        return Ok(io::stdout().lock().write_all(curves.svg().as_bytes())?);
    }
    let same = |path: &Path| path.canonicalize().ok();
    if same(&file).is_some_and(|file| Some(file) == same(&arguments.file)) {
        let wrong = "is the table itself, which would be lost: give another `--output`";
        return Err(Trouble::Input(format!("{} {wrong}", file.display())));
    }
    dahl_files::save(&file, curves.svg()).map_err(|error| Trouble::unwritable(&file, error))?;
    let results = curves.names().map(str::to_owned).collect();
    output.show(&Report { file, steps: curves.steps(), results })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, steps, results } = self;
        let plural = if *steps == 1 { "" } else { "s" };
        writeln!(f, "{}: {} in {steps} step{plural}", file.display(), results.join(", "))
    }
}
