//! Recordings over ranks: the ranks compare what they have recorded.

use std::collections::HashMap;
use std::hash::Hash as _;

use crate::array_id::ArrayId;
use crate::description::TaskDesc;
use crate::graph::{LoggedPartition, LoggedStep};
use crate::ranks::{Note, Ranks};

/// Notes what was recorded. If it differs, the ranks find the first task that does, before any rank waits for a value of a replay.
pub(super) fn note_recording(ranks: &Ranks, program: &str, steps: &mut [LoggedStep]) {
    // Ids are those of a rank; their order is that of the recording.
    let mut numbers = HashMap::new();
    for step in steps {
        match step {
            LoggedStep::Task { desc, .. } => note_task(ranks, desc, &mut numbers),
            LoggedStep::Flow(flow) => {
                ranks.note(Note::call(format!("a branch or a loop in {program}")));
                flow.each_task(&mut |desc| note_task(ranks, desc, &mut numbers));
            }
            LoggedStep::Split(partition) => note_partition(ranks, program, "begins", partition),
            LoggedStep::Join(partition) => note_partition(ranks, program, "ends", partition),
            LoggedStep::Forget(_, location) => {
                ranks.note(Note::call(format!("a value in {program} is discarded at {location}")));
            }
        }
    }
}

fn note_task(ranks: &Ranks, desc: &TaskDesc, numbers: &mut HashMap<ArrayId, usize>) {
    ranks.note(Note::task(desc.codelet().name, desc.location(), |hasher| {
        for access in desc.accesses() {
            let next = numbers.len();
            let number = access.array().map(|array| *numbers.entry(array).or_insert(next));
            (number, access.layout.extents(), access.mode.name()).hash(hasher);
        }
        desc.arguments().hash(hasher);
    }));
}

fn note_partition(ranks: &Ranks, program: &str, what: &str, partition: &LoggedPartition) {
    let LoggedPartition { parts, location, .. } = partition;
    ranks.note(Note::call(format!(
        "a partition into {} parts in {program} {what} at {location}",
        parts.len()
    )));
}
