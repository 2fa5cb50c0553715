//! The longest chain of tasks, each of which waits for the one before.
//!
//! Each task counts with the duration of its kernel, and with the time that its worker waited for its data before that.
//! With any number of workers the run takes at least this time, as long as the durations of kernels and transfers stay
//! the same.

use crate::format::Cause;
use crate::trace::Trace;
use std::collections::HashMap;

/// The critical path of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Its length.
    pub length_ns: u64,
    /// The part of it in which tasks wait for transfers.
    pub transfers_ns: u64,
    /// The indices of its tasks, first to last.
    pub tasks: Vec<usize>,
}

impl Trace {
    /// The longest chain of tasks, each of which depends on the one before.
    ///
    /// Of several equally long chains, the one whose last task was submitted first, then whose last but one was, and so
    /// on.
    pub fn critical_path(&self) -> CriticalPath {
        let waited = self.waited_for_transfers();
        let mut length = vec![0; self.tasks().len()];
        let mut before: Vec<Option<usize>> = vec![None; self.tasks().len()];
        for index in self.graph().order().iter().map(|&index| index as usize) {
            let predecessors = self.graph().predecessors(index).iter().map(|&index| index as usize);
            before[index] = first_longest(predecessors, &length);
            let own = self.tasks()[index].duration_ns + waited[index];
            length[index] = own + before[index].map_or(0, |before| length[before]);
        }
        let last = first_longest(0..length.len(), &length);
        let mut tasks: Vec<usize> = std::iter::successors(last, |&index| before[index]).collect();
        tasks.reverse();
        CriticalPath {
            length_ns: last.map_or(0, |last| length[last]),
            transfers_ns: tasks.iter().map(|&index| waited[index]).sum(),
            tasks,
        }
    }

    /// For each task, how long its worker waited for its data.
    fn waited_for_transfers(&self) -> Vec<u64> {
        let waits = self.idle().iter().filter(|idle| idle.cause == Cause::Transfer);
        let mut by_number: HashMap<u64, u64> = HashMap::new();
        for idle in waits {
            if let Some(number) = idle.before {
                *by_number.entry(number).or_default() += idle.duration_ns;
            }
        }
        self.tasks().iter().map(|task| by_number.get(&task.number).copied().unwrap_or(0)).collect()
    }
}

fn first_longest(indices: impl Iterator<Item = usize>, length: &[u64]) -> Option<usize> {
    indices.min_by_key(|&index| (std::cmp::Reverse(length[index]), index))
}
