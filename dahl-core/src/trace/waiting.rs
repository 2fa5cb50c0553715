//! [`Waiting`]: tasks whose lines wait for those of others.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::chains::{Predecessor, Predecessors, SliceEnd};
use super::event::{Ended, Submitted};

/// Tasks that have no line yet. The line of a task follows those of its dependencies, and that of the task that its
/// worker ran before.
///
/// A task that cannot be written waits for one event at a time, and is examined again when that occurs: at most once
/// for each task that it waits for, in whatever order the threads' events arrive.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The submitted tasks, by number.
    submitted: HashMap<u64, Pending>,
    /// The ended tasks, by number.
    ended: HashMap<u64, Finished>,
    /// The tasks that wait for the line of a task.
    behind: HashMap<u64, Vec<u64>>,
    /// The tasks whose lines can possibly be written now.
    due: VecDeque<u64>,
    /// The last task that each worker ended.
    latest: HashMap<usize, u64>,
    #[cfg(test)]
    looks: u64,
}

/// A task that was submitted.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) task: Submitted,
    pub(super) itself: Arc<Predecessor>,
    pub(super) after: Predecessors,
}

/// A task that has ended.
#[derive(Debug)]
struct Finished {
    ended: Ended,
    /// The task that its worker ran before. None for the host: several threads are the host, and the trace has no idle
    /// time for it.
    turn: Option<u64>,
    /// How many of its dependencies are known to have lines.
    met: usize,
}

impl Waiting {
    pub(super) fn submit(&mut self, pending: Pending) {
        let sequence = pending.task.desc.sequence();
        self.submitted.insert(sequence, pending);
        if self.ended.contains_key(&sequence) {
            self.due.push_back(sequence);
        }
    }

    pub(super) fn end(&mut self, ended: Ended) {
        let sequence = ended.sequence;
        let turn = ended.worker.and_then(|worker| self.latest.insert(worker, sequence));
        self.ended.insert(sequence, Finished { ended, turn, met: 0 });
        self.due.push_back(sequence);
    }

    /// A task whose line can be written now. After that, call [`Self::written`].
    pub(super) fn next(&mut self) -> Option<(Pending, Ended)> {
        while let Some(sequence) = self.due.pop_front() {
            #[cfg(test)]
            (self.looks += 1);
            if !self.submitted.contains_key(&sequence) {
                continue; // it is due again when it is
            }
            if let Some(before) = self.missing(sequence) {
                self.behind.entry(before).or_default().push(sequence);
                continue;
            }
            let finished = self.ended.remove(&sequence).expect("what is due has ended");
            return self.submitted.remove(&sequence).map(|pending| (pending, finished.ended));
        }
        None
    }

    /// A task whose line must precede that of this one, which was submitted and has ended.
    fn missing(&mut self, sequence: u64) -> Option<u64> {
        let turn = self.ended[&sequence].turn;
        if let Some(turn) = turn.filter(|turn| self.ended.contains_key(turn)) {
            return Some(turn);
        }
        let finished = self.ended.get_mut(&sequence)?;
        let after = &self.submitted[&sequence].after[finished.met..];
        let met = after.iter().position(|before| before.place.get().is_none());
        finished.met += met.unwrap_or(after.len());
        met.map(|met| after[met].sequence)
    }

    /// The line of a task has been written, with its slice at `place`.
    pub(super) fn written(&mut self, task: &Predecessor, place: SliceEnd) {
        task.place.set(place).expect("a task ends once");
        self.due.extend(self.behind.remove(&task.sequence).into_iter().flatten());
    }

    /// The number of tasks that have ended and have no line.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ended.len()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::panic::Location;
    use std::sync::OnceLock;

    use super::*;
    use crate::access::AccessMode;
    use crate::codelet::Codelet;
    use crate::description::{Action, ArrayId, Call, TaskDesc};
    use crate::trace::task_times::TaskTimes;

    static STEP: Codelet = Codelet::new("step", module_path!(), 1);
    const PLACE: SliceEnd = SliceEnd { pid: 1, tid: 1, begin_ns: 0, end_ns: 0 };

    /// The description of a task that uses arrays.
    pub(in crate::trace) fn desc(sequence: u64, uses: &[(u64, AccessMode)]) -> TaskDesc {
        let mut desc = TaskDesc::new();
        desc.begin(Action::Kernel(Call::new(&STEP, None)), Location::caller());
        desc.set_sequence(sequence);
        for &(array, mode) in uses {
            desc.push(Some(ArrayId::new(array)), None, mode, |layout| layout.set_contiguous(&[]));
        }
        desc
    }

    pub(in crate::trace) fn task(sequence: u64, uses: &[(u64, AccessMode)]) -> Submitted {
        let known_as = uses.iter().map(|&(array, _)| Some(ArrayId::new(array))).collect();
        Submitted { desc: Box::new(desc(sequence, uses)), known_as, at_ns: 0, host_ns: None, bytes: None }
    }

    fn submitted(sequence: u64, after: &[&Arc<Predecessor>]) -> Pending {
        let task = task(sequence, &[]);
        let itself = Arc::new(Predecessor { sequence, place: OnceLock::new() });
        Pending { task, itself, after: after.iter().map(|&task| Arc::clone(task)).collect() }
    }

    pub(in crate::trace) fn ended(sequence: u64, worker: Option<usize>) -> Ended {
        Ended { sequence, worker, times: TaskTimes::default(), ready_ns: 0, ended_ns: 0, failure: None }
    }

    /// Writes all lines that can be written; returns their tasks.
    fn write(waiting: &mut Waiting) -> Vec<u64> {
        let next = || {
            let (pending, _) = waiting.next()?;
            waiting.written(&pending.itself, PLACE);
            Some(pending.task.desc.sequence())
        };
        std::iter::from_fn(next).collect()
    }

    /// Submits a chain; returns its tasks.
    fn chain(waiting: &mut Waiting, tasks: u64) -> Predecessors {
        let mut all = Predecessors::new();
        for sequence in 0..tasks {
            let pending = submitted(sequence, &all.last().into_iter().collect::<Vec<_>>());
            all.push(Arc::clone(&pending.itself));
            waiting.submit(pending);
        }
        all
    }

    #[test]
    fn a_chain_across_workers_is_looked_at_as_often_as_it_has_arrows() {
        const TASKS: u64 = 30_000;
        let mut waiting = Waiting::default();
        chain(&mut waiting, TASKS);
        for worker in (0..3).rev() {
            for sequence in (worker..TASKS).step_by(3) {
                waiting.end(ended(sequence, Some(worker as usize)));
            }
            assert_eq!(write(&mut waiting).is_empty(), worker > 0, "all begins with the first task");
        }
        assert_eq!((waiting.len(), waiting.submitted.len(), waiting.behind.len()), (0, 0, 0));
        assert!(waiting.looks <= 3 * TASKS, "its end, its turn and its arrow, not {}", waiting.looks);
    }

    #[test]
    fn a_task_is_looked_at_once_for_each_that_it_waits_for() {
        const TASKS: u64 = 2_000;
        let mut waiting = Waiting::default();
        let all: Vec<_> = (0..TASKS).map(|sequence| submitted(sequence, &[])).collect();
        let before: Vec<_> = all.iter().map(|pending| Arc::clone(&pending.itself)).collect();
        all.into_iter().for_each(|pending| waiting.submit(pending));
        waiting.submit(submitted(TASKS, &before.iter().collect::<Vec<_>>()));
        waiting.end(ended(TASKS, None));
        for sequence in 0..TASKS - 1 {
            waiting.end(ended(sequence, None));
            assert_eq!(write(&mut waiting), [sequence]);
        }
        waiting.end(ended(TASKS - 1, None));
        assert_eq!(write(&mut waiting), [TASKS - 1, TASKS]);
        assert!(waiting.looks <= 2 * TASKS + 2, "{}", waiting.looks);
    }

    #[test]
    fn lines_wait_for_submissions_and_for_turns() {
        let mut waiting = Waiting::default();
        waiting.end(ended(1, Some(0)));
        waiting.end(ended(0, Some(0)));
        waiting.submit(submitted(0, &[]));
        assert!(write(&mut waiting).is_empty(), "its worker ran another before");
        waiting.submit(submitted(1, &[]));
        assert_eq!(write(&mut waiting), [1, 0]);
    }

    #[test]
    fn threads_that_are_the_host_do_not_wait_for_each_other() {
        let mut waiting = Waiting::default();
        chain(&mut waiting, 2);
        waiting.end(ended(1, None)); // of a thread whose lane comes first
        waiting.end(ended(0, None));
        assert_eq!(write(&mut waiting), [0, 1]);
    }
}
