//! The tasks of a run, from its trace.

use std::collections::HashMap;

use dahl_trace::{ArrayUse, Task, Trace};

use super::{Recorded, RecordedAccess, RecordedTask};
use crate::calibration;

/// The name of a codelet without its module.
pub(crate) fn codelet(task: &Task) -> &str {
    task.path.rsplit("::").next().unwrap_or(&task.path)
}

fn old() -> String {
    "an older version wrote it, without the sizes of arrays: run the program again".to_owned()
}

impl Recorded {
    /// The tasks of a run.
    ///
    /// # Errors
    /// If the trace ends before its run, if a task has failed or waits for one that was submitted after it, or if an older version
    /// wrote the file.
    pub(super) fn of_trace(trace: Trace) -> Result<Self, String> {
        if let Some(cut) = trace.cut() {
            return Err(format!(
                "it ends in line {}, before its run did: a plan is for whole runs",
                cut.line
            ));
        }
        if let Some(task) = trace.tasks().iter().find(|task| task.failure.is_some()) {
            return Err(format!(
                "task {} ({}) has failed, so the run is not whole",
                task.number, task.codelet
            ));
        }
        let mut tasks: Vec<&Task> = trace.tasks().iter().collect();
        tasks.sort_unstable_by_key(|task| task.number);
        let places: HashMap<u64, usize> =
            tasks.iter().enumerate().map(|(place, task)| (task.number, place)).collect();
        let mut tasks: Vec<_> = tasks.iter().map(|task| recorded(task, &places)).collect::<Result<_, _>>()?;
        // Before traces had the host's time, each task counted as a submission.
        if !tasks.iter().any(|task| task.is_submission) {
            tasks.iter_mut().for_each(|task| task.is_submission = true);
        }
        Ok(Self { tasks, trace: Some(trace) })
    }
}

fn recorded(task: &Task, places: &HashMap<u64, usize>) -> Result<RecordedTask, String> {
    let access = |used: &ArrayUse| {
        Ok(RecordedAccess {
            array: used.array,
            bytes: used.bytes.ok_or_else(old)?,
            reads: matches!(&*used.mode, "R" | "RW" | "COMMUTE"),
            writes: &*used.mode != "R",
        })
    };
    if let Some(later) = task.after.iter().find(|&&before| before >= task.number) {
        return Err(format!(
            "task {} ({}) waits for task {later}, which was not submitted before it: expected smaller numbers in `after`",
            task.number, task.codelet
        ));
    }
    Ok(RecordedTask {
        number: task.number,
        codelet: codelet(task).to_owned(),
        speed: calibration::codelet(task).to_owned(),
        footprint: task.footprint.to_vec(),
        flops: task.flops,
        bytes: task.bytes.ok_or_else(old)?,
        arrays: task.arrays.iter().map(access).collect::<Result<_, String>>()?,
        priority: task.priority,
        is_submission: task.host_us.is_some(),
        after: task.after.iter().filter_map(|before| places.get(before).copied()).collect(),
    })
}
