//! [`Explanation`]: the calls of a codelet's kernels, grouped by what may have made them slow.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::call_log::{Call, CallLog, CallLogs};

/// Why tasks of one codelet took different times: for each kernel and footprint, the durations of calls under different
/// circumstances. `Display` prints a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The codelet's name, as given.
    pub codelet: String,
    /// An entry for each kernel and footprint.
    pub kernels: Vec<KernelExplanation>,
    /// The codelets that ran, if that one did not.
    pub others: Vec<String>,
}

/// The durations of one kernel for one footprint on one kind of worker, and what they depended on.
///
/// All lists except the first calls cover the recorded calls: the last ones of each worker, without its first one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct KernelExplanation {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The kind of worker.
    pub worker_kind: String,
    /// The element types of the codelet's data parameters.
    pub elements: Vec<&'static str>,
    /// The extents of its arrays.
    pub footprint: Vec<Vec<usize>>,
    /// The number of all calls, including first ones.
    pub count: u64,
    /// The recorded calls; none if each worker made only one call.
    pub all: Option<Spread>,
    /// The duration of each worker's first call, in microseconds.
    pub first_calls_us: Vec<(String, f64)>,
    /// By worker.
    pub by_worker: Vec<Under>,
    /// By the number of other workers with a task at the start, if known.
    pub by_load: Vec<Under>,
    /// By whether data were copied before from another memory node.
    pub by_transfer: Vec<Under>,
    /// By whether they ran with a team.
    pub by_team: Vec<Under>,
    /// The calls that took more than twice the largest median above: these circumstances do not explain them, but
    /// perhaps another program on the processor does, or elements that the kernel is slower for.
    pub outliers: Option<Spread>,
}

/// The calls under one circumstance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Under {
    /// The circumstance: `cpu 0`, `1 other busy`, `data copied`.
    pub circumstance: String,
    /// The durations of the calls.
    pub spread: Spread,
}

/// The durations of some calls, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// The number of calls.
    pub count: usize,
    /// The shortest.
    pub min_us: f64,
    /// The median.
    pub median_us: f64,
    /// The longest.
    pub max_us: f64,
}

impl CallLogs {
    /// Explains the codelet of this name.
    pub(crate) fn explain(&self, codelet: &str) -> Explanation {
        let logs: Vec<_> = self.all().iter().filter(|log| log.codelet.name == codelet).cloned().collect();
        let mut groups: Vec<Vec<Arc<CallLog>>> = Vec::new();
        for log in logs {
            match groups.iter_mut().find(|group| group[0].is_like(&log)) {
                Some(group) => group.push(log),
                None => groups.push(vec![log]),
            }
        }
        let kernels: Vec<_> = groups.iter().map(|group| KernelExplanation::of(group)).collect();
        let others = if kernels.is_empty() { self.codelets() } else { Vec::new() };
        Explanation { codelet: codelet.to_owned(), kernels, others }
    }
}

impl KernelExplanation {
    fn of(logs: &[Arc<CallLog>]) -> Self {
        let first = &logs[0];
        let calls: Vec<Call> = logs.iter().flat_map(|log| log.calls()).collect();
        let first_call = |log: &Arc<CallLog>| Some((log.worker.clone(), us(log.first()?.time_ns)));
        let by_worker = logs.iter().filter_map(|log| Under::new(log.worker.clone(), log.calls()));
        let yes_or_no = |names: [&str; 2], holds: fn(&Call) -> bool| -> Vec<Under> {
            let of = |yes: bool| {
                let calls = calls.iter().copied().filter(move |call| holds(call) == yes);
                Under::new(names[usize::from(yes)].to_owned(), calls)
            };
            [false, true].into_iter().filter_map(of).collect()
        };
        let mut loads: Vec<usize> = calls.iter().filter_map(|call| call.others_busy).collect();
        loads.sort_unstable();
        loads.dedup();
        let by_load = loads.into_iter().filter_map(|load| {
            let calls = calls.iter().copied().filter(|call| call.others_busy == Some(load));
            Under::new(format!("{load} other{} busy", if load == 1 { "" } else { "s" }), calls)
        });
        let explanation = Self {
            kernel: first.kernel,
            worker_kind: first.kind.to_string(),
            elements: first.codelet.parameters.iter().map(|parameter| parameter.element.name).collect(),
            footprint: first.footprint.clone(),
            count: logs.iter().map(|log| log.count()).sum(),
            all: Spread::of(calls.iter().copied()),
            first_calls_us: logs.iter().filter_map(first_call).collect(),
            by_worker: by_worker.collect(),
            by_load: by_load.collect(),
            by_transfer: yes_or_no(["data there", "data copied"], |call| call.transferred),
            by_team: yes_or_no(["alone", "with a team"], |call| call.team),
            outliers: None,
        };
        let usual_us = explanation.largest_median_us();
        let outliers =
            calls.into_iter().filter(|call| usual_us.is_some_and(|usual| us(call.time_ns) > 2.0 * usual));
        Self { outliers: Spread::of(outliers), ..explanation }
    }

    /// The circumstances, each with its name.
    fn circumstances(&self) -> [(&'static str, &[Under]); 4] {
        [
            ("worker", &self.by_worker),
            ("load", &self.by_load),
            ("transfer", &self.by_transfer),
            ("team", &self.by_team),
        ]
    }

    /// The largest median under any circumstance with enough calls.
    fn largest_median_us(&self) -> Option<f64> {
        let spreads = self.circumstances().into_iter().flat_map(|(_, under)| under).map(|under| under.spread);
        spreads.filter(|spread| spread.count >= ENOUGH).map(|spread| spread.median_us).max_by(f64::total_cmp)
    }

    /// The circumstance with the largest ratio between medians, and this ratio. Circumstances with fewer than 3 calls
    /// are not compared.
    pub fn largest_factor(&self) -> Option<(&'static str, f64)> {
        let of_first = || {
            let median_us = self.all?.median_us;
            let longest = self.first_calls_us.iter().map(|&(_, us)| us).max_by(f64::total_cmp)?;
            Some(("first call", longest / median_us))
        };
        let factors =
            self.circumstances().into_iter().filter_map(|(name, under)| Some((name, factor(under)?)));
        factors
            .chain(of_first())
            .filter(|(_, factor)| factor.is_finite() && *factor >= 1.0)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
    }
}

impl Under {
    fn new(circumstance: String, calls: impl Iterator<Item = Call>) -> Option<Self> {
        Spread::of(calls).map(|spread| Self { circumstance, spread })
    }
}

impl Spread {
    fn of(calls: impl Iterator<Item = Call>) -> Option<Self> {
        let mut times: Vec<u64> = calls.map(|call| call.time_ns).collect();
        times.sort_unstable();
        let (&min, &max) = (times.first()?, times.last()?);
        let median = times[(times.len() - 1) / 2];
        Some(Self { count: times.len(), min_us: us(min), median_us: us(median), max_us: us(max) })
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1e3
}

/// The least number of calls whose median counts: of two, one may be an outlier.
const ENOUGH: usize = 3;

/// The ratio of the largest to the smallest median; none without a comparison.
fn factor(under: &[Under]) -> Option<f64> {
    let enough = || under.iter().map(|under| under.spread).filter(|spread| spread.count >= ENOUGH);
    let medians = || enough().map(|spread| spread.median_us);
    let (least, most) = (medians().min_by(f64::total_cmp)?, medians().max_by(f64::total_cmp)?);
    (enough().count() > 1).then_some(most / least)
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernels.is_empty() {
            let others = if self.others.is_empty() { "none".to_owned() } else { self.others.join(", ") };
            return writeln!(f, "{}: no task has run; codelets that ran: {others}", self.codelet);
        }
        self.kernels.iter().try_for_each(|kernel| {
            write!(f, "{} ", self.codelet)?;
            write!(f, "{kernel}")
        })
    }
}

impl fmt::Display for KernelExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, footprint) = (self.elements.join(", "), &self.footprint);
        let (kernel, kind, count) = (self.kernel, &self.worker_kind, self.count);
        writeln!(f, "({elements}) {footprint:?}, kernel {kernel} on {kind}: {count} calls")?;
        if let Some(all) = &self.all {
            writeln!(f, "    {:<12} {:<16} {all}", "last calls", "")?;
        }
        for (worker, us) in &self.first_calls_us {
            writeln!(f, "    {:<12} {worker:<16} {:>14}{us:>12.1}", "first call", "")?;
        }
        for (name, under) in self.circumstances() {
            for Under { circumstance, spread } in under {
                writeln!(f, "    {name:<12} {circumstance:<16} {spread}")?;
            }
        }
        if let Some(outliers) = &self.outliers {
            writeln!(f, "    {:<12} {:<16} {outliers}", "outliers", "")?;
        }
        match self.largest_factor() {
            Some((name, factor)) => writeln!(f, "    largest factor: {name}, {factor:.2} times"),
            None => writeln!(f, "    nothing to compare"),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, min_us, median_us, max_us } = self;
        write!(f, "{count:>5} calls, {median_us:>12.1} us ({min_us:.1} to {max_us:.1})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under(count: usize, median_us: f64) -> Under {
        let spread = Spread { count, min_us: median_us, median_us, max_us: median_us };
        Under { circumstance: String::new(), spread }
    }

    #[test]
    fn few_calls_prove_nothing() {
        assert_eq!(factor(&[under(50, 2.0), under(3, 6.0)]), Some(3.0));
        assert_eq!(factor(&[under(50, 2.0), under(2, 600.0)]), None);
        assert_eq!(factor(&[under(50, 2.0), under(2, 600.0), under(9, 1.0)]), Some(2.0));
        assert_eq!(factor(&[under(50, 2.0)]), None);
        assert_eq!(factor(&[]), None);
    }
}
