//! `dahl perf show CODELET`: everything that is stored about a codelet.

use std::fmt;

use serde::Serialize;

use super::family::{Family, Fitted, footprint, mad_us};
use super::selection::{Known, MachineName, Selection};
use crate::output::{HEADING, Output};
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  dahl perf --dir models show matmul
  dahl perf --dir models show dahl::ops::matmul::matmul --json";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The codelet's name, with or without its modules.
    codelet: String,
}

/// A codelet by machine.
#[derive(Serialize)]
struct Report {
    codelets: Vec<Codelet>,
}

#[derive(Serialize)]
struct Codelet {
    codelet: String,
    machine: MachineName,
    families: Vec<Shown>,
}

/// A kernel for some element types on a kind of worker.
#[derive(Serialize)]
struct Shown {
    #[serde(skip)]
    title: String,
    kernel: String,
    worker_kind: String,
    elements: Vec<String>,
    tasks: u64,
    curve: Option<Fitted>,
    entries: Vec<FootprintRow>,
}

/// A footprint.
#[derive(Serialize)]
struct FootprintRow {
    #[serde(skip)]
    footprint_text: String,
    footprint: Vec<Vec<usize>>,
    count: u64,
    first_calls: u64,
    /// The mean of first calls.
    first_us: Option<f64>,
    /// The median of the last durations.
    median_us: f64,
    /// Their median absolute deviation.
    mad_us: f64,
    mean_us: f64,
    deviation_us: f64,
    min_us: f64,
    max_us: f64,
    /// The duration by the fitted curve.
    curve_us: Option<f64>,
    flops: Option<f64>,
    bytes: f64,
}

pub(super) fn run(arguments: &Arguments, selection: &Selection, output: &Output) -> Result<(), Trouble> {
    let known = selection.codelet(&arguments.codelet)?;
    output.show(&Report { codelets: known.iter().map(Codelet::new).collect() })
}

impl Codelet {
    fn new(known: &Known<'_>) -> Self {
        let families = known.families.iter().map(Shown::new).collect();
        Self { codelet: known.codelet.clone(), machine: known.machine.clone(), families }
    }
}

impl Shown {
    fn new(family: &Family<'_>) -> Self {
        let entries = family.histories.iter().map(|history| FootprintRow {
            footprint_text: footprint(history),
            footprint: history.footprint.clone(),
            count: history.count,
            first_calls: history.first_calls,
            first_us: history.first_us,
            median_us: history.median_us,
            mad_us: mad_us(history),
            mean_us: history.mean_us,
            deviation_us: history.deviation_us,
            min_us: history.min_us,
            max_us: history.max_us,
            curve_us: family.curve.and_then(|curve| curve.us(history.size())),
            flops: history.flops,
            bytes: history.bytes,
        });
        Self {
            title: family.title(),
            kernel: family.kernel().to_owned(),
            worker_kind: family.worker_kind().to_owned(),
            elements: family.elements().to_vec(),
            tasks: family.count(),
            curve: family.fitted(),
            entries: entries.collect(),
        }
    }

    fn table(&self) -> Table {
        let mut headings = vec![
            "footprint",
            ">count",
            ">median",
            ">MAD",
            ">first call",
            ">mean",
            ">min",
            ">max",
            ">curve",
            ">rate",
        ];
        if self.curve.is_none() {
            headings.retain(|heading| *heading != ">curve");
        }
        let mut table = Table::new(&headings).indent(4);
        for entry in &self.entries {
            let or_dash = |us: Option<f64>| us.map_or("-".to_owned(), units::time);
            let mut cells = vec![
                entry.footprint_text.clone(),
                entry.count.to_string(),
                units::time(entry.median_us),
                units::time(entry.mad_us),
                or_dash(entry.first_us),
                units::time(entry.mean_us),
                units::time(entry.min_us),
                units::time(entry.max_us),
            ];
            if self.curve.is_some() {
                cells.push(or_dash(entry.curve_us));
            }
            cells.push(entry.rate());
            table.row(cells);
        }
        table
    }
}

impl FootprintRow {
    /// Work per time, by the median.
    fn rate(&self) -> String {
        let per_ns = |work: f64| units::significant(work / (self.median_us * 1e3));
        match self.flops {
            _ if self.median_us == 0.0 => "-".to_owned(),
            Some(flops) => format!("{} GFLOP/s", per_ns(flops)),
            None => format!("{} GB/s", per_ns(self.bytes)),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Codelet { codelet, machine, families }) in self.codelets.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(f, "{gap}{HEADING}{codelet}{HEADING:#} on {machine}")?;
            for family in families {
                writeln!(f, "\n  {}: {} tasks", family.title, family.tasks)?;
                write!(f, "{}", family.table())?;
                match &family.curve {
                    Some(curve) => writeln!(f, "    {curve}")?,
                    None => {
                        writeln!(f, "    no curve: it needs medians of 4 different sizes that lie near one")?
                    }
                }
            }
        }
        Ok(())
    }
}
