//! A summary as text: tables of figures with three digits.

use super::{CodeletSummary, CriticalPathSummary, EnergyPart, EnergySummary, Summary, WorkerSummary};
use std::fmt::{Display, Formatter, Result};

impl Display for Summary {
    fn fmt(&self, out: &mut Formatter) -> Result {
        let Self { program, host, scheduler, run_us, tasks, .. } = self;
        let clock = if self.is_virtual { " of virtual time" } else { "" };
        let run = time(*run_us);
        writeln!(
            out,
            "{program} on {host}: {} in {run}{clock}, scheduler {scheduler}",
            plural(*tasks, "task")
        )?;
        if self.failed > 0 {
            writeln!(out, "{} failed or {} cancelled.", plural(self.failed, "task"), was(self.failed))?;
        }
        if let Some(cut) = self.cut {
            let piece = if cut.in_the_middle { ", in the middle of the next" } else { "" };
            writeln!(out, "The file ends before the run does: after line {}{piece}.", cut.line)?;
        }
        writeln!(out, "{}", self.verdict)?;
        // The host counts only if it helped.
        let workers = self.workers.iter().filter(|worker| worker.number.is_some() || worker.tasks > 0);
        table(out, "worker", &WORKER, workers.map(worker).collect())?;
        table(out, "codelet", &CODELET, self.codelets.iter().map(codelet).collect())?;
        let transfers = self.transfers.iter().map(|link| {
            let cells = vec![count(link.count), bytes(link.bytes), time(link.total_us)];
            (format!("{} to {}", link.from, link.to), cells)
        });
        table(out, "transfers", &["count", "bytes", "total"], transfers.collect())?;
        let memory = self.memory.iter();
        let memory = memory.map(|peak| (peak.node.clone(), vec![bytes(peak.peak_bytes), time(peak.at_us)]));
        table(out, "memory", &["peak", "at"], memory.collect())?;
        if let Some(energy) = &self.energy {
            write_energy(out, energy)?;
        }
        critical_path(out, &self.critical_path)
    }
}

const WORKER: [&str; 11] = [
    "kind",
    "node",
    "tasks",
    "busy",
    "idle",
    "submission",
    "dependency",
    "scheduler",
    "transfer",
    "end",
    "unknown",
];

fn worker(worker: &WorkerSummary) -> (String, Vec<String>) {
    let mut cells = vec![worker.kind.clone(), worker.node.to_string(), count(worker.tasks)];
    cells.extend([time(worker.busy_us), time(worker.idle_us)]);
    cells.extend(worker.idle.causes().map(|(_, us)| time(us)));
    (worker.name.clone(), cells)
}

const CODELET: [&str; 8] = ["count", "total", "share", "mean", "median", "min", "max", "prediction error"];

fn codelet(codelet: &CodeletSummary) -> (String, Vec<String>) {
    let CodeletSummary { total_us, mean_us, median_us, min_us, max_us, .. } = codelet;
    let mut cells = vec![count(codelet.count), time(*total_us), percent(codelet.share)];
    cells.extend([mean_us, median_us, min_us, max_us].map(|us| time(*us)));
    cells.push(codelet.prediction_error.map_or("-".to_owned(), percent));
    (codelet.path.clone(), cells)
}

/// What each memory node and counter has used, and why others are not known.
fn write_energy(out: &mut Formatter, energy: &EnergySummary) -> Result {
    let parts = || energy.nodes.iter().chain(&energy.domains);
    let row = |part: &EnergyPart| {
        let cell = |value: Option<f64>, text: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), text);
        let source = match part.energy.absence() {
            Some(_) => "unavailable".to_owned(),
            None => part.energy.source().to_string(),
        };
        let indent = if part.within.is_some() { "  " } else { "" };
        let cells = vec![cell(part.energy.value(), joules), cell(part.mean_watts, watts), source];
        (format!("{indent}{}", part.name), cells)
    };
    table(out, "energy", &["joules", "mean power", "source"], parts().map(row).collect())?;
    let mut told = Vec::new();
    for part in parts() {
        let Some(absence) = part.energy.absence().filter(|absence| !told.contains(absence)) else { continue };
        writeln!(out, "the energy of {} is unavailable: {absence}", part.name)?;
        told.push(absence);
    }
    Ok(())
}

/// An energy with three digits and its unit.
fn joules(joules: f64) -> String {
    match joules {
        0.0 => "0".to_owned(),
        joules if joules < 999.5e-6 => format!("{} uJ", digits(joules * 1e6)),
        joules if joules < 999.5e-3 => format!("{} mJ", digits(joules * 1e3)),
        joules if joules < 999.5 => format!("{} J", digits(joules)),
        joules => format!("{} kJ", digits(joules / 1e3)),
    }
}

/// A power with three digits and its unit.
fn watts(watts: f64) -> String {
    if watts < 999.5 { format!("{} W", digits(watts)) } else { format!("{} kW", digits(watts / 1e3)) }
}

fn critical_path(out: &mut Formatter, path: &CriticalPathSummary) -> Result {
    if path.tasks == 0 {
        return Ok(());
    }
    let (length, share) = (time(path.length_us), percent(path.share));
    write!(out, "\ncritical path: {length}, {share} of the run, {}", plural(path.tasks, "task"))?;
    if path.transfers_us > 0.0 {
        write!(out, ", waiting for transfers {}", time(path.transfers_us))?;
    }
    writeln!(out)?;
    for codelet in &path.codelets {
        writeln!(out, "  {}: {}, {}", codelet.path, plural(codelet.count, "task"), time(codelet.total_us))?;
    }
    Ok(())
}

/// Writes rows of a name and cells, with the name left-aligned and cells right-aligned; nothing if there are no rows.
fn table(out: &mut Formatter, title: &str, heads: &[&str], rows: Vec<(String, Vec<String>)>) -> Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let length = |text: &str| text.chars().count();
    let first = rows.iter().map(|(name, _)| length(name)).chain([length(title)]).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().map(|(_, cells)| length(&cells[column])).chain([length(heads[column])]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = &str>| {
        write!(out, "{name:first$}")?;
        for (cell, width) in cells.zip(&widths) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)
    };
    line(title, &mut heads.iter().copied())?;
    rows.iter().try_for_each(|(name, cells)| line(name, &mut cells.iter().map(String::as_str)))
}

/// A time with three digits and its unit.
pub(crate) fn time(us: f64) -> String {
    match us {
        0.0 => "0".to_owned(),
        us if us < 999.5 => format!("{} us", digits(us)),
        us if us < 999.5e3 => format!("{} ms", digits(us / 1e3)),
        us => format!("{} s", digits(us / 1e6)),
    }
}

/// A number of bytes with three digits and its unit.
pub(crate) fn bytes(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        bytes if bytes < 1000.0 => format!("{bytes} B"),
        bytes if bytes < 999.5e3 => format!("{} kB", digits(bytes / 1e3)),
        bytes if bytes < 999.5e6 => format!("{} MB", digits(bytes / 1e6)),
        bytes => format!("{} GB", digits(bytes / 1e9)),
    }
}

/// Three digits of a number.
fn digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}

pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.0 => "0 %".to_owned(),
        percent if percent < 0.05 => "< 0.1 %".to_owned(),
        percent if percent < 9.95 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    }
}

fn count(count: usize) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn plural(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

fn was(number: usize) -> &'static str {
    if number == 1 { "was" } else { "were" }
}
