//! The critical path by codelet.

use super::{CriticalPathSummary, PathCodelet, share, us};
use crate::trace::Trace;
use std::collections::BTreeMap;

pub(super) fn summarized(trace: &Trace) -> CriticalPathSummary {
    let path = trace.critical_path();
    let mut codelets: BTreeMap<&str, PathCodelet> = BTreeMap::new();
    for task in path.tasks.iter().map(|&index| &trace.tasks()[index]) {
        let codelet = codelets.entry(&task.path).or_insert_with(|| PathCodelet {
            path: task.path.to_string(),
            name: task.codelet.to_string(),
            count: 0,
            total_us: 0.0,
        });
        codelet.count += 1;
        codelet.total_us += us(task.duration_ns);
    }
    let mut codelets: Vec<_> = codelets.into_values().collect();
    codelets.sort_by(|a, b| b.total_us.total_cmp(&a.total_us));
    CriticalPathSummary {
        length_us: us(path.length_ns),
        transfers_us: us(path.transfers_ns),
        share: share(us(path.length_ns), us(trace.duration_ns())),
        tasks: path.tasks.len(),
        codelets,
    }
}
