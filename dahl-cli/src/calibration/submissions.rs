//! [`measured`]: what the host does by itself before it submits tasks.

use std::collections::BTreeMap;

use dahl::Submission;
use dahl_trace::Trace;

use super::durations::codelet;
use super::statistics::{line, trimmed_mean};
use super::{CPU, workers};

/// Bytes of the unit of sizes.
const MB: f64 = (1 << 20) as f64;

/// The largest size must be so many times the smallest for a line.
const SPREAD: f64 = 2.0;

/// The own times in microseconds of submissions, by the bytes of the tasks.
type Sizes = BTreeMap<u64, Vec<f64>>;

/// What the host does before it submits a task of each codelet, after one of each other, and after any: the mean for each size, and
/// the line through those of several sizes. And the mean of all.
///
/// Of the runs with the fewest workers: with as many workers as cores the host waits for a core too.
pub(super) fn measured(traces: &[Trace]) -> (Vec<Submission>, f64) {
    let count =
        |trace: &Trace| workers(trace, CPU).iter().filter(|(worker, _)| worker.number.is_some()).count();
    let fewest = traces.iter().map(count).min();
    let (mut pairs, mut all) = (BTreeMap::new(), Vec::new());
    for trace in traces.iter().filter(|trace| Some(count(trace)) == fewest) {
        let mut before: Option<String> = None;
        for task in trace.tasks() {
            let Some(us) = task.host_us else { continue };
            let (name, bytes) = (codelet(task).to_owned(), task.bytes.unwrap_or(0.0) as u64);
            let mut add = |after| {
                let sizes: &mut Sizes = pairs.entry((name.clone(), after)).or_default();
                sizes.entry(bytes).or_default().push(us);
            };
            add(None);
            if let Some(after) = before.replace(name.clone()) {
                add(Some(after));
            }
            all.push(us);
        }
    }
    let submission = |((codelet, after), sizes): ((String, Option<String>), Sizes)| {
        let (us, us_per_mb) = time(&sizes);
        Submission { codelet, after, us, us_per_mb }
    };
    (pairs.into_iter().map(submission).collect(), trimmed_mean(all).unwrap_or(0.0))
}

/// The time at no bytes, and that of each 2^20.
fn time(sizes: &Sizes) -> (f64, f64) {
    let points: Vec<(f64, f64)> = sizes
        .iter()
        .filter_map(|(&bytes, us)| Some((bytes as f64 / MB, trimmed_mean(us.clone())?)))
        .collect();
    let alike = || trimmed_mean(sizes.values().flatten().copied().collect()).unwrap_or(0.0);
    let sizes_differ = match (points.first(), points.last()) {
        (Some((least, _)), Some((most, _))) => *most >= SPREAD * *least,
        _ => false,
    };
    line(&points).filter(|_| sizes_differ).unwrap_or_else(|| (alike(), 0.0))
}
