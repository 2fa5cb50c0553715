//! [`Speed`]: how long tasks take on a kind of worker.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::codelet_speed::CodeletSpeed;

/// Joins the names of the parts of a fused codelet.
const JOINS: char = '+';

/// The durations of tasks on a kind of worker: `overhead_us + max(flops / gflops, bytes / gbytes_per_s)`, with the
/// `flops` and `bytes` of their declarations; or as [measured](CodeletSpeed::measured).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Speed {
    /// Floating-point operations per nanosecond.
    pub gflops: f64,
    /// Bytes moved per nanosecond, between the kernel and its memory.
    pub gbytes_per_s: f64,
    /// The additional time of every task, in microseconds.
    pub overhead_us: f64,
    /// How much longer tasks take for each other worker of the CPU that is busy: 0.3 is 30 %.
    #[serde(skip_serializing_if = "is_zero")]
    pub co_running: f64,
    /// Speeds of particular codelets, by name.
    pub codelets: BTreeMap<String, CodeletSpeed>,
}

impl Default for Speed {
    /// A current core: 50 GFLOP/s, 10 GB/s, and a microsecond per task.
    fn default() -> Self {
        Self {
            gflops: 50.0,
            gbytes_per_s: 10.0,
            overhead_us: 1.0,
            co_running: 0.0,
            codelets: BTreeMap::new(),
        }
    }
}

impl Speed {
    /// The same, `factor` times as fast in every respect.
    pub fn times(&self, factor: f64) -> Self {
        Self {
            gflops: self.gflops * factor,
            gbytes_per_s: self.gbytes_per_s * factor,
            overhead_us: self.overhead_us / factor,
            co_running: self.co_running,
            codelets: self.codelets.iter().map(|(name, speed)| (name.clone(), speed.times(factor))).collect(),
        }
    }

    /// Whether it says of `codelet` alone how long it takes, or that it is absent. If not, a fused task takes the times of its parts.
    pub(crate) fn knows(&self, codelet: &str) -> bool {
        self.codelets.get(codelet).is_some_and(|own| own.absent || own.has_time())
    }

    /// Whether `codelet` has a kernel there. A fused one (`exp+relu`) has one if its parts have, unless there are figures of the whole.
    pub(crate) fn has(&self, codelet: &str) -> bool {
        let is_absent = |name: &str| self.codelets.get(name).is_some_and(|own| own.absent);
        if self.knows(codelet) { !is_absent(codelet) } else { !codelet.split(JOINS).any(is_absent) }
    }

    /// The duration in microseconds of a task of `codelet` with these extents of its arrays, while no other worker is busy; none if
    /// the worker has no kernel of it.
    ///
    /// A fused task (`exp+relu`) of which there are no figures takes the times of those parts that have one (`us`), and for the others
    /// that of its operations and bytes, with one overhead.
    pub fn us(
        &self,
        codelet: &str,
        footprint: &[impl AsRef<[usize]>],
        flops: Option<f64>,
        bytes: f64,
    ) -> Option<f64> {
        if !self.has(codelet) {
            return None;
        }
        let own = self.codelets.get(codelet);
        if let Some(us) = own.and_then(|own| own.measured_us(footprint, flops, bytes)) {
            return Some(self.overhead_us + us);
        }
        if let Some(us) = own.and_then(|own| own.us) {
            return Some(us);
        }
        if !self.knows(codelet) && codelet.contains(JOINS) {
            let given = codelet.split(JOINS).map(|part| self.codelets.get(part).and_then(|part| part.us));
            let (given, others): (Vec<_>, Vec<_>) = given.partition(Option::is_some);
            let given = given.into_iter().flatten().map(|us| (us - self.overhead_us).max(0.0)).sum::<f64>();
            let by_rates = if others.is_empty() { 0.0 } else { self.rates_us(own, flops, bytes) };
            return Some(self.overhead_us + given + by_rates);
        }
        Some(self.overhead_us + self.rates_us(own, flops, bytes))
    }

    /// The time in microseconds of so many operations and bytes, by the rates of a codelet or of the worker.
    pub(super) fn rates_us(&self, own: Option<&CodeletSpeed>, flops: Option<f64>, bytes: f64) -> f64 {
        let gflops = own.and_then(|own| own.gflops).unwrap_or(self.gflops);
        let gbytes_per_s = own.and_then(|own| own.gbytes_per_s).unwrap_or(self.gbytes_per_s);
        (flops.unwrap_or(0.0) / gflops).max(bytes / gbytes_per_s) / 1e3
    }

    /// The duration of a task of `codelet`, or of one without one (`""`).
    pub(crate) fn duration_ns<'f>(
        &self,
        codelet: &str,
        footprint: impl Iterator<Item = &'f [usize]>,
        flops: Option<f64>,
        bytes: f64,
    ) -> u64 {
        // A simulated device may be given a task that it has no kernel of, which fails there.
        let is_measured = self.codelets.get(codelet).is_some_and(|own| !own.measured.is_empty());
        let footprint: Vec<&[usize]> = if is_measured { footprint.collect() } else { Vec::new() };
        nanoseconds(self.us(codelet, &footprint, flops, bytes).unwrap_or(self.overhead_us))
    }

    /// How much longer a task of `codelet` takes for each other worker of the CPU that is busy.
    pub(crate) fn co_running(&self, codelet: &str) -> f64 {
        self.codelets.get(codelet).and_then(|own| own.co_running).unwrap_or(self.co_running)
    }

    /// How much the durations of `codelet` vary.
    pub(crate) fn variation(&self, codelet: &str) -> f64 {
        self.codelets.get(codelet).and_then(|own| own.variation).unwrap_or(0.0)
    }

    /// The first figure that is impossible for a machine.
    pub(super) fn wrong(&self) -> Option<String> {
        let rates = [("gflops", self.gflops), ("gbytes_per_s", self.gbytes_per_s)];
        let of_codelets = self.codelets.iter().flat_map(|(name, speed)| {
            let rates = [("gflops", speed.gflops), ("gbytes_per_s", speed.gbytes_per_s)];
            rates.map(|(what, rate)| (format!("codelets.{name}.{what}"), rate.unwrap_or(1.0)))
        });
        let mut rates = rates.map(|(what, rate)| (what.to_owned(), rate)).into_iter().chain(of_codelets);
        if let Some((what, rate)) = rates.find(|(_, rate)| !(rate.is_finite() && *rate > 0.0)) {
            return Some(format!("{what} = {rate}: a rate is above 0"));
        }
        let times =
            self.codelets.iter().filter_map(|(name, speed)| Some((format!("codelets.{name}.us"), speed.us?)));
        let mut times = [("overhead_us".to_owned(), self.overhead_us)].into_iter().chain(times);
        if let Some((what, us)) = times.find(|(_, us)| !is_time(*us)) {
            return Some(format!("{what} = {us}: {A_TIME}"));
        }
        if !(self.co_running.is_finite() && self.co_running >= 0.0) {
            return Some(format!("co_running = {}: a share is 0 or more", self.co_running));
        }
        let mut of_codelets = self.codelets.iter();
        of_codelets.find_map(|(name, speed)| Some(format!("codelets.{name}.{}", speed.wrong()?)))
    }
}

/// The longest time of a task or a transfer, in microseconds: 13 days. Thousands of them can be added in nanoseconds.
pub(super) const LONGEST_US: f64 = (1_u64 << 50) as f64 / 1e3;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Whether a figure of a model is a valid time.
pub(super) fn is_time(us: f64) -> bool {
    (0.0..=LONGEST_US).contains(&us)
}

/// The definition of a valid time, for messages.
pub(super) const A_TIME: &str = "a time is 0 or more, and at most 13 days";

/// Microseconds as whole nanoseconds, at most the longest time.
pub(super) fn nanoseconds(us: f64) -> u64 {
    (us.min(LONGEST_US) * 1e3).round() as u64
}
