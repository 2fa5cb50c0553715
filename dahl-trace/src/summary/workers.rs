//! The time of each worker by its uses.

use super::{IdleSummary, WorkerSummary, place, share, us};
use crate::trace::Trace;

/// The times of a worker, in nanoseconds.
#[derive(Clone, Copy, Default)]
struct Time {
    tasks: usize,
    busy: u64,
    idle: [u64; 5],
}

pub(super) fn summarized(trace: &Trace) -> Vec<WorkerSummary> {
    let mut times = vec![Time::default(); trace.workers().len()];
    for task in trace.tasks() {
        times[task.worker].tasks += 1;
        times[task.worker].busy += task.duration_ns;
    }
    for idle in trace.idle() {
        times[idle.worker].idle[place(idle.cause)] += idle.duration_ns;
    }
    let with_time = trace.workers().iter().zip(times);
    with_time
        .map(|(worker, time)| {
            // The host helps while it waits, and does its own work otherwise, so it is never idle.
            let all = if worker.number.is_some() { trace.duration_ns() } else { time.busy };
            let known: u64 = time.idle.iter().sum();
            let unknown = all.saturating_sub(time.busy + known);
            let [submission_us, dependency_us, scheduler_us, transfer_us, end_us] = time.idle.map(us);
            WorkerSummary {
                name: worker.name.clone(),
                number: worker.number,
                kind: worker.kind.clone(),
                node: worker.node,
                tasks: time.tasks,
                busy_us: us(time.busy),
                idle_us: us(known + unknown),
                idle: IdleSummary {
                    submission_us,
                    dependency_us,
                    scheduler_us,
                    transfer_us,
                    end_us,
                    unknown_us: us(unknown),
                },
            }
        })
        .collect()
}

pub(super) fn busy_share(workers: &[WorkerSummary]) -> f64 {
    let busy: f64 = workers.iter().map(|worker| worker.busy_us).sum();
    let idle: f64 = workers.iter().map(|worker| worker.idle_us).sum();
    share(busy, busy + idle)
}
