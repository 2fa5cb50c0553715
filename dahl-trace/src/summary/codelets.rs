//! The time that the tasks of each codelet took.

use super::{CodeletSummary, share, us};
use crate::trace::{Task, Trace};
use std::collections::BTreeMap;

pub(super) fn summarized(trace: &Trace) -> Vec<CodeletSummary> {
    let mut tasks: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for task in trace.tasks() {
        tasks.entry(&task.path).or_default().push(task);
    }
    let busy = us(trace.tasks().iter().map(|task| task.duration_ns).sum());
    let mut codelets: Vec<_> = tasks.values().map(|tasks| codelet(tasks, busy)).collect();
    codelets.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
    codelets
}

fn codelet(tasks: &[&Task], busy: f64) -> CodeletSummary {
    let mut durations: Vec<u64> = tasks.iter().map(|task| task.duration_ns).collect();
    durations.sort_unstable();
    let count = durations.len();
    let total_us = us(durations.iter().sum());
    let errors: Vec<f64> = tasks.iter().filter_map(|task| prediction_error(task)).collect();
    CodeletSummary {
        name: tasks[0].codelet.to_string(),
        path: tasks[0].path.to_string(),
        count,
        total_us,
        mean_us: total_us / count as f64,
        median_us: us(durations[(count - 1) / 2] + durations[count / 2]) / 2.0,
        min_us: us(durations[0]),
        max_us: us(durations[count - 1]),
        share: share(total_us, busy),
        predicted: errors.len(),
        prediction_error: (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64),
    }
}

/// The error of the prediction relative to the measured duration.
fn prediction_error(task: &Task) -> Option<f64> {
    let predicted = task.predicted_us?;
    (task.measured_us > 0.0).then(|| (predicted - task.measured_us).abs() / task.measured_us)
}
