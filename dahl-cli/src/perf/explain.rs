//! `dahl perf explain CODELET`: how long a codelet takes on average, and why that varies.

mod cause;
mod circumstance;

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::From;
use super::family::{self, Family, later_calls};
use super::selection::{Known, MachineName, Selection};
use crate::output::{HEADING, Output};
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;
use cause::{Cause, causes};
use circumstance::Circumstances;

const EXAMPLES: &str = "\
Examples:
  dahl perf --dir models explain matmul
  dahl perf --dir models --machine real explain matmul --json
  dahl perf --dir models explain matmul --trace run.json";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The codelet's name, with or without its modules.
    codelet: String,
    /// A trace of a run: says by the circumstances of each call, too.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    /// From the stored models.
    codelets: Vec<Explained>,
    /// From the trace, if one was given.
    circumstances: Option<Circumstances>,
}

/// A codelet on a machine.
#[derive(Serialize)]
struct Explained {
    codelet: String,
    machine: MachineName,
    tasks: u64,
    first_calls: u64,
    /// Over all calls except first ones, as the fields below.
    average: Option<Average>,
    /// The same for each kernel, element types and kind of worker.
    families: Vec<FamilyAverage>,
    causes: Vec<Cause>,
}

/// The average of one kernel for some element types on a kind of worker.
#[derive(Serialize)]
struct FamilyAverage {
    kernel: String,
    worker_kind: String,
    elements: Vec<String>,
    tasks: u64,
    footprints: usize,
    average: Option<Average>,
}

/// The durations of all calls except first ones.
#[derive(Serialize)]
struct Average {
    mean_us: f64,
    deviation_us: f64,
    min_us: f64,
    max_us: f64,
    /// The fraction of the variance between footprints, kernels, element types and kinds of worker; the rest is the
    /// variance of calls that agree in all of them.
    explained: Option<f64>,
}

/// Explains by the stored models, by the trace, or both.
pub(super) fn run(arguments: &Arguments, from: &From, output: &Output) -> Result<(), Trouble> {
    let circumstances = arguments.trace.as_deref().map(|file| {
        let trace = crate::trace::read(file)?;
        Circumstances::of(&arguments.codelet, &trace, file)
    });
    let circumstances = circumstances.transpose()?;
    let codelets = match circumstances.is_some() && from.folder().is_none() {
        true => Vec::new(),
        false => {
            let selection = Selection::read(from)?;
            selection.codelet(&arguments.codelet)?.iter().map(Explained::new).collect()
        }
    };
    output.show(&Report { codelets, circumstances })
}

impl Explained {
    fn new(known: &Known<'_>) -> Self {
        let histories = || of_tasks(known).flat_map(|family| family.histories.iter());
        Self {
            codelet: known.codelet.clone(),
            machine: known.machine.clone(),
            tasks: histories().map(|history| history.count).sum(),
            first_calls: histories().map(|history| history.first_calls).sum(),
            average: Average::of(of_tasks(known)),
            families: of_tasks(known).map(FamilyAverage::new).collect(),
            causes: causes(of_tasks(known)),
        }
    }
}

impl Explained {
    fn by_family(&self) -> Table {
        let headings =
            ["average of", "on", "for", ">footprints", ">tasks", ">mean", ">deviation", ">min", ">max"];
        let mut table = Table::new(&headings).indent(2);
        for FamilyAverage { kernel, worker_kind, elements, tasks, footprints, average } in &self.families {
            let times = average.as_ref().map(|a| [a.mean_us, a.deviation_us, a.min_us, a.max_us]);
            let times = times.map_or([const { String::new() }; 4], |times| times.map(units::time));
            let elements = family::elements(elements);
            let counts = [footprints.to_string(), tasks.to_string()];
            table.row([kernel.clone(), worker_kind.clone(), elements].into_iter().chain(counts).chain(times));
        }
        table
    }
}

/// All families except those of the runtime's own tasks of reductions.
fn of_tasks<'k, 's>(known: &'k Known<'s>) -> impl Iterator<Item = &'k Family<'s>> {
    known.families.iter().filter(|family| !family.is_of_reduction())
}

impl FamilyAverage {
    fn new(family: &Family<'_>) -> Self {
        Self {
            kernel: family.kernel().to_owned(),
            worker_kind: family.worker_kind().to_owned(),
            elements: family.elements().to_vec(),
            tasks: family.count(),
            footprints: family.histories.len(),
            average: Average::of(std::iter::once(family)),
        }
    }
}

impl Average {
    /// Over all calls of these families except first ones; none if there are no others.
    fn of<'s: 'f, 'f>(families: impl Iterator<Item = &'f Family<'s>>) -> Option<Self> {
        let all = families.flat_map(|family| family.histories.iter());
        let measured: Vec<_> = all.filter(|history| later_calls(history) > 0).collect();
        let calls: f64 = measured.iter().map(|history| later_calls(history) as f64).sum();
        if calls == 0.0 {
            return None;
        }
        let over_calls = |value: &dyn Fn(f64, f64) -> f64| {
            let weighted = measured
                .iter()
                .map(|history| later_calls(history) as f64 * value(history.mean_us, history.deviation_us));
            weighted.sum::<f64>() / calls
        };
        let mean_us = over_calls(&|mean, _| mean);
        let within = over_calls(&|_, deviation| deviation * deviation);
        let between = over_calls(&|mean, _| (mean - mean_us) * (mean - mean_us));
        let variance = within + between;
        Some(Self {
            mean_us,
            deviation_us: variance.sqrt(),
            min_us: measured.iter().map(|history| history.min_us).fold(f64::MAX, f64::min),
            max_us: measured.iter().map(|history| history.max_us).fold(0.0, f64::max),
            explained: (variance > 0.0).then(|| between / variance),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, codelet) in self.codelets.iter().enumerate() {
            write!(f, "{}{codelet}", if index > 0 { "\n" } else { "" })?;
        }
        let Some(circumstances) = &self.circumstances else { return Ok(()) };
        write!(f, "{}{circumstances}", if self.codelets.is_empty() { "" } else { "\n" })
    }
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codelet, machine, tasks, first_calls, average, causes, .. } = self;
        writeln!(f, "{HEADING}{codelet}{HEADING:#} on {machine}")?;
        let Some(average) = average else {
            return writeln!(
                f,
                "  {tasks} tasks, all first calls: run it again to know how long it takes once it is warm"
            );
        };
        let Average { mean_us, deviation_us, min_us, max_us, explained } = average;
        let [mean, deviation, min, max] = [*mean_us, *deviation_us, *min_us, *max_us].map(units::time);
        let besides = match first_calls {
            0 => String::new(),
            _ => format!(" besides {first_calls} first calls"),
        };
        writeln!(
            f,
            "  A task takes {mean} on average, with a standard deviation of {deviation}: from {min} to {max}, in {} tasks{besides}.",
            tasks - first_calls
        )?;
        if let Some(explained) = explained {
            let (explained, rest) = (units::percent(*explained), units::percent(1.0 - explained));
            writeln!(
                f,
                "  Of the variance, {explained} lies between footprints, kernels, element types and kinds of worker, and {rest} \
                 among calls that agree in all of these.",
            )?;
        }
        if self.families.len() > 1 {
            write!(f, "\n{}", self.by_family())?;
        }
        writeln!(f)?;
        let mut table = Table::new(&[
            "why it varies",
            ">by up to",
            ">least",
            "where",
            ">most",
            "where",
            "all else alike",
        ]);
        for Cause { what, factor, least, most, among } in causes {
            let [least_us, most_us] = [least.us, most.us].map(units::time);
            let (least, most) = (least.at.clone(), most.at.clone());
            table.row([
                what.to_string(),
                units::times(*factor),
                least_us,
                least,
                most_us,
                most,
                among.clone(),
            ]);
        }
        if causes.is_empty() {
            return writeln!(
                f,
                "  Nothing to compare: one footprint, one kernel, one kind of worker, all calls alike."
            );
        }
        write!(f, "{}", table.indent(2))
    }
}
