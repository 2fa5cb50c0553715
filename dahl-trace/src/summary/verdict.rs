//! One sentence that names the main use of time.

use super::{CodeletSummary, Summary};
use crate::summary::text::{percent, time};

/// The fraction from which workers are called busy.
const BUSY: f64 = 0.9;
/// The fraction of the run from which on the critical path is called the limit.
const BOUND: f64 = 0.75;
/// Tasks with a lower mean duration are called short relative to the runtime's work between them.
const SHORT_US: f64 = 10.0;

pub(super) fn of(summary: &Summary) -> String {
    let Some(longest) = summary.codelets.first() else {
        return "No task ran.".to_owned();
    };
    let most = mostly(longest, summary.codelets.len());
    let busy = percent(summary.busy_share);
    let (cause, idle, all) = largest_cause(summary);
    if summary.busy_share >= BUSY || idle == 0.0 {
        return format!("Workers were busy {busy} of the time, {most}.");
    }
    let share = percent(idle / all);
    let why = match cause {
        "submission" => "the next task had not been submitted yet".to_owned(),
        "dependency" => dependency(summary),
        "scheduler" => {
            format!("tasks were ready and not taken yet (a task takes {} on average)", time(mean_us(summary)))
        }
        "transfer" => "data were on their way".to_owned(),
        "end of the run" => "there was no further task".to_owned(),
        _ => "the trace does not say why".to_owned(),
    };
    format!("Workers were busy {busy} of the time, {most}; for {share} of the rest, {why}.")
}

/// The codelet that took most of the workers' time.
fn mostly(longest: &CodeletSummary, codelets: usize) -> String {
    match codelets {
        1 => format!("with {}", longest.name),
        _ => format!("{} of it with {}", percent(longest.share), longest.name),
    }
}

/// The mean duration of a task.
fn mean_us(summary: &Summary) -> f64 {
    summary.codelets.iter().map(|codelet| codelet.total_us).sum::<f64>() / summary.tasks as f64
}

/// The path includes kernels and transfers, but not the runtime's time between tasks.
fn dependency(summary: &Summary) -> String {
    let path = &summary.critical_path;
    let share = percent(path.share);
    let mean_us = mean_us(summary);
    if path.share >= BOUND {
        format!(
            "tasks waited for others, and the critical path takes {share} of the run: more workers would not help"
        )
    } else if mean_us < SHORT_US && !summary.is_virtual {
        let mean = time(mean_us);
        format!("tasks waited for others, and take only {mean} on average: they are too short")
    } else if path.tasks == summary.tasks {
        "tasks waited for others, and all are in one chain: there is no other order".to_owned()
    } else {
        format!(
            "tasks waited for others, though the critical path takes only {share} of the run: another order might help"
        )
    }
}

/// The largest cause of idle time, its time, and the total idle time.
fn largest_cause(summary: &Summary) -> (&'static str, f64, f64) {
    let mut sums = super::IdleSummary::default().causes();
    for worker in &summary.workers {
        for (sum, (_, us)) in sums.iter_mut().zip(worker.idle.causes()) {
            sum.1 += us;
        }
    }
    let all = sums.iter().map(|(_, us)| us).sum();
    let (cause, idle) = sums.into_iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(("unknown", 0.0));
    (cause, idle, all)
}
