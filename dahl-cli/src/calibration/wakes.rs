//! [`wake_us`]: what waking a worker takes.

use dahl_trace::Trace;

use super::statistics::median;
use super::{CPU, workers};

/// How long a worker of the CPU looks for tasks before it sleeps: `dahl-core/src/worker` says so.
pub(super) const SLEEPS_AFTER_US: f64 = 50.0;

/// From the time when a task is ready until it begins, on a worker of the CPU that sleeps.
pub(super) fn wake_us(traces: &[Trace]) -> f64 {
    let mut latencies = Vec::new();
    for (_, tasks) in traces.iter().flat_map(|trace| workers(trace, CPU)) {
        for pair in tasks.windows(2) {
            let idle_us = pair[1].ready_ns.saturating_sub(pair[0].end_ns()) as f64 / 1e3;
            if idle_us > SLEEPS_AFTER_US && pair[1].start_ns >= pair[1].ready_ns {
                latencies.push((pair[1].start_ns - pair[1].ready_ns) as f64 / 1e3);
            }
        }
    }
    median(latencies).unwrap_or(0.0)
}
