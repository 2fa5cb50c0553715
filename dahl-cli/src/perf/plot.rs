//! `dahl perf plot CODELET`: the time of a codelet against its size.

mod chart;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::selection::{Known, Selection};
use crate::output::Output;
use crate::trouble::Trouble;
use chart::Series;

const EXAMPLES: &str = "\
Examples:
  dahl perf --dir models plot matmul
  dahl perf --dir models --machine real plot matmul -o matmul.svg";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The codelet's name, with or without its modules.
    codelet: String,
    /// The file to write. [default: CODELET.svg]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The plot.
#[derive(Serialize)]
struct Report {
    file: PathBuf,
    /// `flop` or `byte`.
    size: &'static str,
    series: Vec<Drawn>,
    /// The families whose size has the other unit.
    left_out: Vec<String>,
}

#[derive(Serialize)]
struct Drawn {
    title: String,
    points: usize,
    curve: bool,
}

pub(super) fn run(arguments: &Arguments, selection: &Selection, output: &Output) -> Result<(), Trouble> {
    let known = selection.codelet(&arguments.codelet)?;
    let short = known[0].codelet.rsplit("::").next().unwrap_or_default();
    let file = arguments.output.clone().unwrap_or_else(|| format!("{short}.svg").into());
    let size = known[0].families[0].size_unit();
    let (series, left_out) = series(&known, size);
    let machines =
        known.iter().map(|known| known.machine.to_string()).collect::<std::collections::BTreeSet<_>>();
    let machines: Vec<_> = machines.into_iter().collect();
    chart::write(&file, (&known[0].codelet, &machines.join("; ")), size, &series)
        .map_err(|error| Trouble::unwritable(&file, error))?;
    let drawn = |series: Series<'_>| Drawn {
        points: series.family.histories.len(),
        curve: series.family.curve.is_some(),
        title: series.title,
    };
    output.show(&Report { file, size, series: series.into_iter().map(drawn).collect(), left_out })
}

/// The series, and the titles of those that are left out since their size has another unit.
fn series<'k>(known: &'k [Known<'_>], size: &str) -> (Vec<Series<'k>>, Vec<String>) {
    let (mut series, mut left_out) = (Vec::new(), Vec::new());
    for Known { machine, families, .. } in known {
        for family in families {
            let title = match known.len() {
                1 => family.title(),
                _ => format!("{}: {}", machine.name, family.title()),
            };
            match family.size_unit() == size {
                true => series.push(Series { title, family }),
                false => left_out.push(title),
            }
        }
    }
    (series, left_out)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: time against {}s", self.file.display(), self.size)?;
        for Drawn { title, points, curve } in &self.series {
            let points = format!("{points} footprint{}", if *points == 1 { "" } else { "s" });
            writeln!(f, "  {title}: {points}{}", if *curve { " and a curve" } else { ", no curve" })?;
        }
        self.left_out
            .iter()
            .try_for_each(|title| writeln!(f, "  left out, its size is in other units: {title}"))
    }
}
