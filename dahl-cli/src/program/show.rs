//! `dahl program show FILE`: a program as text, DOT and a page.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl::program::{Listing, StepRow};
use serde::Serialize;

use super::{page, read};
use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl program show step.program
  dahl program show step.program --html step.html
  dahl program show step.program --dot - | dot -Tsvg > step.svg";

/// The arguments of `dahl program show`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The program, as `graph().save(FILE)` wrote it.
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// A file for the graph as Graphviz reads it; `-` is the standard output.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    dot: Option<PathBuf>,
    /// A file for a page with the graph, the memory plan and the tasks, which needs nothing else; `-` is the standard output.
    #[arg(long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    html: Option<PathBuf>,
}

/// A program.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    program: &'a str,
    signature: String,
    tasks: usize,
    arrays: usize,
    dependencies: usize,
    constant_bytes: usize,
    peak_bytes: usize,
    steps: Vec<StepRow>,
    #[serde(skip)]
    text: String,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { file, dot, html } = arguments;
    let is_standard = |path: &Option<PathBuf>| path.as_deref().is_some_and(|path| path.as_os_str() == "-");
    let wants =
        usize::from(is_standard(dot)) + usize::from(is_standard(html)) + usize::from(output.is_json());
    if wants > 1 {
        let wrong = "`--dot -`, `--html -` and `--json` all want the standard output: give one of them";
        return Err(Trouble::Input(wrong.to_owned()));
    }
    let same = |path: &Path| path.canonicalize().ok();
    for out in [dot, html].into_iter().flatten() {
        if same(out).is_some_and(|out| Some(out) == same(file)) {
            let wrong = "is the program itself, which would be lost: give another file";
            return Err(Trouble::Input(format!("{} {wrong}", out.display())));
        }
    }
    let listing = read(file)?;
    if let Some(out) = dot {
        write(out, &listing.dot())?;
    }
    if let Some(out) = html {
        write(out, &page::page(&listing))?;
    }
    if is_standard(dot) || is_standard(html) {
        return Ok(());
    }
    output.show(&report(file, &listing))
}

fn report<'a>(file: &'a Path, listing: &'a Listing) -> Report<'a> {
    Report {
        file,
        program: listing.name(),
        signature: listing.signature(),
        tasks: listing.tasks(),
        arrays: listing.arrays(),
        dependencies: listing.edges().len(),
        constant_bytes: listing.constant_bytes(),
        peak_bytes: listing.memory_plan().all_bytes(),
        steps: listing.rows(),
        text: listing.to_string(),
    }
}

/// Writes to a file, or to the standard output.
fn write(out: &Path, content: &str) -> Result<(), Trouble> {
    if out.as_os_str() == "-" {
        return Ok(io::stdout().lock().write_all(content.as_bytes())?);
    }
    dahl_files::save(out, content).map_err(|error| Trouble::unwritable(out, error))
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, dependencies, arrays, peak_bytes, constant_bytes, text, .. } = self;
        writeln!(f, "{text}")?;
        writeln!(
            f,
            "{tasks} tasks with {dependencies} dependencies, {arrays} arrays; what it makes needs {peak_bytes} bytes, of which {constant_bytes} are constants"
        )
    }
}
