//! The energy of a run as text: what each memory node and counter has used, and the energy of each codelet.

use std::fmt;

use dahl_energy::{Joules, Source};

use super::energy::EnergyStatistics;
use super::quantity::{amount, energy};
use super::text::{NOTHING, Table};
use crate::perf::EnergyEstimate;

/// Where an energy is from, in a cell.
fn source(joules: &Joules) -> String {
    match joules.source() {
        Source::Unavailable(_) => "unavailable".to_owned(),
        source => source.to_string(),
    }
}

impl EnergyStatistics {
    /// Writes the tables of a run that took this time, in microseconds.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, time_us: f64) -> fmt::Result {
        if !self.domains.is_empty() {
            write!(f, "\n{}", self.table(time_us))?;
        }
        self.write_reasons(f)?;
        if !self.estimates.is_empty() {
            write!(f, "\n{}", self.estimate_table())?;
        }
        Ok(())
    }

    fn table(&self, time_us: f64) -> Table {
        let mut table = Table::new(["energy", "joules", "mean power", "source"]);
        let mut add = |name: String, joules: &Joules| {
            let value = joules.value();
            let power = value.filter(|_| time_us > 0.0).map(|value| amount(value / time_us * 1e6, "W"));
            let cell = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
            table.add([name, cell(value.map(energy)), cell(power), source(joules)]);
        };
        for node in &self.nodes {
            add(node.name.clone(), &node.energy);
        }
        for domain in &self.domains {
            let indent = if domain.within.is_some() { "    " } else { "  " };
            add(format!("{indent}{}", domain.name), &domain.energy);
        }
        table
    }

    /// Why energies are unavailable: each reason once.
    fn write_reasons(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_nodes = self.nodes.iter().map(|node| (&node.name, &node.energy));
        let of_domains = self.domains.iter().map(|domain| (&domain.name, &domain.energy));
        let mut told = Vec::new();
        for (name, joules) in of_nodes.chain(of_domains) {
            let Some(absence) = joules.absence().filter(|absence| !told.contains(absence)) else { continue };
            if told.is_empty() {
                writeln!(f)?;
            }
            writeln!(f, "  the energy of {name} is unavailable: {absence}")?;
            told.push(absence);
        }
        Ok(())
    }

    fn estimate_table(&self) -> Table {
        let mut table = Table::new(["energy by regression", "worker", "each", "from", "to", "windows"]);
        for estimate in &self.estimates {
            let EnergyEstimate { worker_kind, codelet, value, interval, windows } = estimate;
            let text = |value: f64| match codelet {
                Some(_) => energy(value),
                None => amount(value, "W"),
            };
            let bound = |bound: Option<f64>| bound.map_or_else(|| "?".to_owned(), text);
            let name = codelet.clone().unwrap_or_else(|| "no task".to_owned());
            let (low, high) = interval.unzip();
            let cells = [text(*value), bound(low), bound(high), windows.to_string()];
            table.add([name, worker_kind.clone()].into_iter().chain(cells));
        }
        table
    }
}
