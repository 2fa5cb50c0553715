//! `dahl plan memory FILE`: static memory allocation.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::ValueHint;
use dahl_plan::memory::{Error, Options, allocate_until};
use serde::Serialize;

use super::table::{Row, Table};
use crate::output::Output;
use crate::trouble::Trouble;

const EXAMPLES: &str = "\
Examples:
  dahl plan memory buffers.csv                           the offsets, on the standard output
  dahl plan memory buffers.csv --capacity 8 --out plan.csv
  dahl plan memory buffers.csv --alignment 256 --json";

/// The arguments of `dahl plan memory`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A CSV file with a line of names: id, lower, upper, size, in any order. A buffer of `size` bytes lives at the times
    /// from `lower` to below `upper`.
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// The bytes that there are. Without it the peak is as low as possible.
    #[arg(long, value_name = "BYTES")]
    capacity: Option<u64>,
    /// Offsets and sizes are multiples of it.
    #[arg(long, value_name = "BYTES", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    alignment: u64,
    /// The most seconds that the search may take. What was found by then is the result.
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    seconds: f64,
    /// The most steps that the search may take, for a result that does not depend on the machine.
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    steps: u64,
    /// The file for the table with a column `offset`; `-` is the standard output. [default: -, or none with `--json`]
    #[arg(short, long, visible_alias = "output", value_name = "OUT", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected seconds from 0 on".to_owned())?;
    Ok(seconds)
}

/// A plan.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    capacity_bytes: Option<u64>,
    alignment_bytes: u64,
    peak_bytes: u64,
    lower_bound_bytes: u64,
    optimal: bool,
    seconds: f64,
    buffers: Vec<Row<'a>>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { ref file, capacity, alignment, seconds, steps, ref out } = *arguments;
    let is_standard = out.as_deref().map_or(!output.is_json(), |out| out.as_os_str() == "-");
    if is_standard && output.is_json() {
        let wrong = "`--out -` and `--json` both want the standard output: give one of them";
        return Err(Trouble::Input(wrong.to_owned()));
    }
    let same = |path: &Path| path.canonicalize().ok();
    if let Some(out) = out.as_deref().filter(|out| same(out).is_some_and(|out| Some(out) == same(file))) {
        let wrong = "is the table itself, which would be lost: give another `--out`";
        return Err(Trouble::Input(format!("{} {wrong}", out.display())));
    }
    let table = Table::read(file)?;
    let begin = Instant::now();
    let options = Options { capacity, alignment, steps };
    let mut is_late = || begin.elapsed().as_secs_f64() >= seconds;
    let plan = allocate_until(&table.buffers, &options, &mut is_late).map_err(|error| match error {
        Error::DoesNotFit { .. } | Error::Undecided { .. } => {
            Trouble::Failed(format!("{}: {error}", file.display()))
        }
        other => Trouble::Input(format!("{}: {other}", file.display())),
    })?;
    let report = Report {
        file,
        capacity_bytes: capacity,
        alignment_bytes: alignment,
        peak_bytes: plan.peak,
        lower_bound_bytes: plan.lower_bound,
        optimal: plan.optimal,
        seconds: begin.elapsed().as_secs_f64(),
        buffers: table.rows(&plan.offsets),
    };
    if is_standard {
        io::stdout().lock().write_all(&report.csv())?;
        output.note(report.to_string().trim_end());
        return Ok(());
    }
    if let Some(out) = out {
        dahl_files::save(out, report.csv()).map_err(|error| Trouble::unwritable(out, error))?;
    }
    output.show(&report)
}

impl Report<'_> {
    /// The table with the offsets.
    fn csv(&self) -> Vec<u8> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let names = writer.write_record(["id", "lower", "upper", "size", "offset"]);
        names.expect("memory can be written to");
        for row in &self.buffers {
            writer.serialize(row).expect("memory can be written to, and a row has no rows in it");
        }
        writer.into_inner().expect("memory can be written to")
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, capacity_bytes, peak_bytes, lower_bound_bytes, buffers, .. } = self;
        let plural = if buffers.len() == 1 { "" } else { "s" };
        write!(f, "{}: {} buffer{plural} in {peak_bytes} bytes", file.display(), buffers.len())?;
        if let Some(capacity) = capacity_bytes {
            write!(f, " of {capacity}")?;
        }
        match self.optimal {
            true => writeln!(f, ", which is the least possible"),
            false => writeln!(f, "; every allocation needs at least {lower_bound_bytes}"),
        }
    }
}
