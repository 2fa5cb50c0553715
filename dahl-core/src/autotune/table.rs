//! [`KernelChoices`]: the table of choices, which users can read and save.

use std::fmt;
use std::io;
use std::path::Path;

use super::TuningEntry;
use super::autotuner::Help;
use super::pins::VERSION;

/// The kernels that run tasks of each codelet and footprint, and the measurements behind that.
///
/// `Display` prints a table; [`save`](Self::save) writes a file that `DAHL_KERNELS` reads.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelChoices {
    /// The policy: `equal`, `first`, `measured`, or the name of the file whose table is pinned.
    pub policy: String,
    /// One row for each codelet, element types, footprint and kind of worker with several candidates.
    pub rows: Vec<KernelChoice>,
    /// Warnings about rows of the file that do not apply.
    pub warnings: Vec<String>,
}

/// The choice for tasks of one codelet and footprint on one kind of worker.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelChoice {
    /// The codelet's name.
    pub codelet: &'static str,
    /// The codelet's module.
    pub module: &'static str,
    /// The element types of its data parameters.
    pub elements: Vec<&'static str>,
    /// The extents of its arrays.
    pub footprint: Vec<Vec<usize>>,
    /// The kind of worker: `cpu`, or a device's name.
    pub worker_kind: String,
    /// Whether the tasks overwrite an input (`_self`).
    pub in_place: bool,
    /// What determines the choice.
    pub ruling: Ruling,
    /// The measurements: a row for each kernel alone, and two for each one that can have a team.
    pub trials: Vec<KernelTrial>,
    /// The kernel, if it is chosen.
    pub kernel: Option<&'static str>,
    /// Whether it runs with a team while workers are idle, if that is chosen.
    pub team: Option<bool>,
    /// Whether workers that become idle later help if none is at its start, if that is chosen.
    pub late: Option<bool>,
}

/// What determines a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ruling {
    /// The first kernel declared is the only one that is allowed.
    First,
    /// Measurements decide.
    Measured,
    /// A table: its file and line.
    Pinned(String),
}

/// The measurements of one kernel, alone or with a team.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelTrial {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Whether it ran with a team of workers.
    pub team: bool,
    /// Whether no worker was idle when it started, so that its team were those that became idle.
    pub late: bool,
    /// The duration of its first call, in microseconds.
    pub first_us: Option<f64>,
    /// The durations of the later calls, in microseconds.
    pub calls_us: Vec<f64>,
    /// The median of those.
    pub median_us: Option<f64>,
    /// Whether it was so slow that it is not measured any more.
    pub is_out: bool,
}

impl TuningEntry {
    /// The row of the table.
    pub(super) fn row(&self) -> KernelChoice {
        let mut autotuner = self.autotuner();
        let decision = autotuner.decide();
        let us = |ns: u64| ns as f64 / 1e3;
        let rows = autotuner.candidates.iter().map(|candidate| KernelTrial {
            kernel: self.kernels[candidate.kernel].name(),
            team: candidate.help != Help::None,
            late: candidate.help == Help::Late,
            first_us: candidate.first_ns.map(us),
            calls_us: candidate.samples.iter().copied().map(us).collect(),
            median_us: candidate.median_ns().map(us),
            is_out: candidate.is_out,
        });
        KernelChoice {
            codelet: self.codelet.name,
            module: self.codelet.module,
            elements: self.codelet.parameters.iter().map(|parameter| parameter.element.name).collect(),
            footprint: self.footprint.clone(),
            worker_kind: self.kind.to_string(),
            in_place: self.in_place,
            ruling: self.ruling.clone(),
            trials: rows.collect(),
            kernel: decision.busy.or(decision.idle).map(|(kernel, _)| self.kernels[kernel].name()),
            team: decision.idle.map(|(_, team)| team),
            late: decision.busy.map(|(_, team)| team),
        }
    }
}

impl KernelChoices {
    /// Writes the table of final choices, for `DAHL_KERNELS` or `.kernels(..)`. An existing file is replaced
    /// atomically: readers never see a partial one. Links are followed, and owner and mode are kept.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        dahl_files::save(path, self.to_toml()).map_err(named)
    }

    /// The text that [`save`](Self::save) writes.
    pub fn to_toml(&self) -> String {
        let mut text =
            format!("# Which kernel runs tasks of which codelet and shapes.\n\nversion = {VERSION}\n");
        text +=
            "# For what is not below: equal (the fastest of those of the same bits), first, or measured.\n";
        text += "otherwise = \"first\"\n";
        for row in &self.rows {
            let Some(kernel) = row.kernel else { continue };
            let KernelChoice { codelet, module, elements, footprint, worker_kind, in_place, .. } = row;
            text += &format!("\n[[kernel]]\ncodelet = {:?}\n", format!("{module}::{codelet}"));
            text += &format!("worker = {worker_kind:?}\nelements = {elements:?}\nshapes = {footprint:?}\n");
            text += &format!("in_place = {in_place}\nkernel = {kernel:?}");
            text += &match row.trial(kernel, false) {
                Some(median_us) => format!(" # {median_us:.1} us\n"),
                None => "\n".to_owned(),
            };
        }
        text
    }
}

impl KernelChoice {
    /// The median of a kernel's measurements, in microseconds.
    fn trial(&self, kernel: &str, team: bool) -> Option<f64> {
        self.trials.iter().find(|trial| trial.kernel == kernel && trial.team == team)?.median_us
    }
}

impl fmt::Display for KernelChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernels by the policy `{}`", self.policy)?;
        self.rows.iter().try_for_each(|row| write!(f, "{row}"))?;
        self.warnings.iter().try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

impl fmt::Display for KernelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (self_, elements) = (if self.in_place { "_self" } else { "" }, self.elements.join(", "));
        let (codelet, footprint, worker) = (self.codelet, &self.footprint, &self.worker_kind);
        write!(f, "{codelet}{self_} ({elements}) {footprint:?} on {worker}: ")?;
        f.write_str(self.kernel.unwrap_or("not decided"))?;
        f.write_str(match (self.kernel, self.team, self.late) {
            (None, ..) | (_, None, None) => "",
            (_, Some(true), Some(true)) => ", with a team",
            (_, Some(true), _) => ", with a team while workers are idle",
            (_, _, Some(true)) => ", with a team of workers that become idle",
            (_, Some(false), _) => ", alone",
            (_, None, Some(false)) => ", alone while no worker is idle",
        })?;
        match &self.ruling {
            Ruling::First => writeln!(f, " (the first)")?,
            Ruling::Measured => writeln!(f, " (measured)")?,
            Ruling::Pinned(place) => writeln!(f, " (pinned at {place})")?,
        }
        for trial in self.trials.iter().filter(|trial| trial.first_us.is_some()) {
            let how = match (trial.team, trial.late) {
                (_, true) => "late",
                (true, false) => "team",
                (false, false) => "alone",
            };
            write!(f, "    {:<24} {how:<6}", trial.kernel)?;
            let us = |us: Option<f64>| us.map_or_else(|| "-".to_owned(), |us| format!("{us:.1} us"));
            let out = if trial.is_out { ", out" } else { "" };
            let (first, median, calls) = (us(trial.first_us), us(trial.median_us), trial.calls_us.len());
            writeln!(f, " first {first:>12}, median {median:>12} of {calls}{out}")?;
        }
        Ok(())
    }
}
