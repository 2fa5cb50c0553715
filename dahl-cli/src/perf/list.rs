//! `dahl perf ls`: the codelets that have run, by machine.

use std::fmt;

use dahl::EnergyEstimate;
use serde::Serialize;

use super::family::{self, Family, families, later_calls};
use super::selection::{MachineName, Selection};
use crate::output::{HEADING, Output};
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  dahl perf --dir models ls
  dahl perf --dir models --machine simulated ls --json";

#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {}

/// The stored models.
#[derive(Serialize)]
struct Report {
    folder: String,
    machines: Vec<Machine>,
    unusable: Vec<Unusable>,
}

#[derive(Serialize)]
struct Machine {
    #[serde(flatten)]
    machine: MachineName,
    codelets: Vec<Codelet>,
    energies: Vec<EnergyEstimate>,
}

#[derive(Serialize)]
struct Codelet {
    codelet: String,
    tasks: u64,
    kernels: Vec<String>,
    worker_kinds: Vec<String>,
    elements: Vec<Vec<String>>,
    footprints: usize,
    /// The total time of all tasks.
    total_us: f64,
    /// The mean of all calls except first ones, weighted by their number.
    mean_us: Option<f64>,
}

/// A file that cannot be used.
#[derive(Serialize)]
struct Unusable {
    file: String,
    fact: String,
}

pub(super) fn run(selection: &Selection, output: &Output) -> Result<(), Trouble> {
    let machines = selection.models.machines.iter().map(|machine| {
        let mut names: Vec<_> = machine
            .histories
            .iter()
            .map(|history| format!("{}::{}", history.module, history.codelet))
            .collect();
        names.sort();
        names.dedup();
        let codelets = names.into_iter().map(|name| Codelet::new(&families(machine, &name), name));
        let mut codelets: Vec<_> = codelets.collect();
        codelets.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
        Machine { machine: MachineName::of(machine), codelets, energies: machine.energies.clone() }
    });
    let unusable = selection.models.unusable.iter().map(|unusable| Unusable {
        file: unusable.path.display().to_string(),
        fact: unusable.fact.trim_end().to_owned(),
    });
    output.show(&Report {
        folder: selection.folder.display().to_string(),
        machines: machines.collect(),
        unusable: unusable.collect(),
    })
}

impl Codelet {
    fn new(all: &[Family<'_>], codelet: String) -> Self {
        let families: Vec<_> = all.iter().filter(|family| !family.is_of_reduction()).collect();
        let histories = || families.iter().flat_map(|family| family.histories.iter().copied());
        let distinct = |mut texts: Vec<String>| {
            texts.sort();
            texts.dedup();
            texts
        };
        let mut footprints: Vec<_> = histories().map(|history| &history.footprint).collect();
        footprints.sort();
        footprints.dedup();
        let mut elements: Vec<_> = families.iter().map(|family| family.elements().to_vec()).collect();
        elements.sort();
        elements.dedup();
        let calls: u64 = histories().map(later_calls).sum();
        let later_us: f64 = histories().map(|history| history.mean_us * later_calls(history) as f64).sum();
        let first_us: f64 =
            histories().map(|history| history.first_us.unwrap_or(0.0) * history.first_calls as f64).sum();
        Self {
            codelet,
            tasks: families.iter().map(|family| family.count()).sum(),
            kernels: distinct(families.iter().map(|family| family.kernel().to_owned()).collect()),
            worker_kinds: distinct(families.iter().map(|family| family.worker_kind().to_owned()).collect()),
            elements,
            footprints: footprints.len(),
            total_us: later_us + first_us,
            mean_us: (calls > 0).then(|| later_us / calls as f64),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Machine { machine, codelets, energies }) in self.machines.iter().enumerate() {
            let gap = if index > 0 { "\n" } else { "" };
            writeln!(f, "{gap}{HEADING}{}/{}{HEADING:#}  {}", machine.host, machine.name, machine.what)?;
            let headings = [
                "codelet",
                ">tasks",
                ">mean",
                ">all tasks",
                ">footprints",
                "workers",
                "kernels",
                "element types",
            ];
            let mut table = Table::new(&headings).indent(2);
            for codelet in codelets {
                let mean = codelet.mean_us.map_or("-".to_owned(), units::time);
                let elements: Vec<_> =
                    codelet.elements.iter().map(|elements| family::elements(elements)).collect();
                table.row([
                    codelet.codelet.clone(),
                    codelet.tasks.to_string(),
                    mean,
                    units::time(codelet.total_us),
                    codelet.footprints.to_string(),
                    codelet.worker_kinds.join(", "),
                    codelet.kernels.join(", "),
                    elements.join(", "),
                ]);
            }
            write!(f, "{table}")?;
            if !energies.is_empty() {
                write!(f, "{}", energy_table(energies))?;
            }
        }
        Ok(())
    }
}

/// The energy of each codelet, with its 95 % confidence interval.
fn energy_table(energies: &[EnergyEstimate]) -> Table {
    let headings = ["energy by regression", "worker", ">each", ">from", ">to", ">windows"];
    let mut table = Table::new(&headings).indent(2);
    for energy in energies {
        let unit = if energy.codelet.is_some() { "J" } else { "W" };
        let text = |value: f64| format!("{} {unit}", units::significant(value));
        let (low, high) = energy.interval.unzip();
        let bound = |bound: Option<f64>| bound.map_or("?".to_owned(), text);
        table.row([
            energy.codelet.clone().unwrap_or("no task".to_owned()),
            energy.worker_kind.clone(),
            text(energy.value),
            bound(low),
            bound(high),
            energy.windows.to_string(),
        ]);
    }
    table
}
