//! [`WorkerQueue`]: the tasks of one worker, and when it is expected to have run them.

use std::collections::{HashMap, VecDeque};

use crate::access::AccessMode;
use crate::description::ArrayId;
use crate::scheduler::sorted::{QueueKey, Sorted};
use crate::task::ReadyTask;

/// The number of tasks among which one with the fewest missing bytes is chosen.
const LOOK: usize = 64;

/// The tasks of one worker: those that it has taken, in that order, and those that are queued.
#[derive(Debug)]
pub(super) struct WorkerQueue {
    tasks: Sorted<Waiting>,
    /// The sum of the predicted durations of queued tasks.
    queued_ns: u64,
    taken: VecDeque<Taken>,
    /// When the first taken task began, as far as is known.
    begin_ns: u64,
    /// Arrays that are copied for queued tasks, with the number of these tasks.
    coming: HashMap<ArrayId, u32>,
    /// Whether the worker's transfers for a task overlap with the task before it.
    takes_ahead: bool,
}

/// A queued task.
#[derive(Debug)]
struct Waiting {
    task: ReadyTask,
    cost: Cost,
    place: QueueKey,
    /// Whether arrays are copied for it.
    brings: bool,
}

/// The time for which a task occupies a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// The duration of its kernel.
    pub(super) run_ns: u64,
    /// The duration of its transfers.
    pub(super) transfer_ns: u64,
    /// Both, without the part that overlaps with the task before it.
    pub(super) total_ns: u64,
}

/// A task that the worker has taken and that has not ended.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) sequence: u64,
    pub(super) expected_ns: u64,
    /// The number of the group that it is measured for.
    pub(super) sample_of: Option<usize>,
}

/// The initial capacity of a worker queue: not for all tasks in flight, whose number grows with that of the workers.
const RESERVED: usize = 1024;

impl WorkerQueue {
    pub(super) fn new(tasks: usize, takes_ahead: bool) -> Self {
        Self {
            tasks: Sorted::new(tasks.min(RESERVED)),
            queued_ns: 0,
            taken: VecDeque::with_capacity(4),
            begin_ns: 0,
            coming: HashMap::new(),
            takes_ahead,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether the worker has no task after those that it has taken.
    pub(super) fn is_free_soon(&self) -> bool {
        self.tasks.len() == 0
    }

    /// The cost of a task at `place`, and its end.
    ///
    /// A device takes one task ahead: its transfers begin when the task before it does. On the host they begin when
    /// that task has ended.
    pub(super) fn end_of(&self, now_ns: u64, place: QueueKey, run_ns: u64, transfer_ns: u64) -> (u64, Cost) {
        let (free_ns, last_ns) = self.free(now_ns, place);
        let request_ns = if self.takes_ahead { free_ns - last_ns } else { free_ns };
        let arrival_ns = request_ns.saturating_add(transfer_ns);
        let end_ns = free_ns.max(arrival_ns).saturating_add(run_ns);
        (end_ns, Cost { run_ns, transfer_ns, total_ns: end_ns - free_ns })
    }

    /// When all its tasks will have run.
    pub(super) fn all_end_ns(&self, now_ns: u64) -> u64 {
        self.taken_end_ns(now_ns).saturating_add(self.queued_ns)
    }

    /// When all tasks that the worker has taken will have run.
    fn taken_end_ns(&self, now_ns: u64) -> u64 {
        let mut taken = self.taken.iter().map(|taken| taken.expected_ns);
        let first_end_ns =
            taken.next().map_or(now_ns, |expected_ns| self.begin_ns.saturating_add(expected_ns).max(now_ns));
        first_end_ns.saturating_add(taken.sum::<u64>())
    }

    /// When all tasks before `place` will have run, and the duration of the last one's kernel.
    fn free(&self, now_ns: u64, place: QueueKey) -> (u64, u64) {
        let ahead = self.tasks.count_before(place);
        let queued_ns = if ahead == self.tasks.len() {
            self.queued_ns
        } else {
            self.tasks.iter().take(ahead).map(|waiting| waiting.cost.total_ns).sum()
        };
        let free_ns = self.taken_end_ns(now_ns).saturating_add(queued_ns);
        let last = ahead.checked_sub(1).and_then(|last| self.tasks.iter().nth(last));
        let last_ns = match last {
            Some(waiting) => waiting.cost.run_ns,
            None => self.taken.back().map_or(0, |taken| taken.expected_ns),
        };
        (free_ns, last_ns.min(free_ns - now_ns))
    }

    /// Inserts a task by its key.
    pub(super) fn push(&mut self, place: QueueKey, task: ReadyTask, cost: Cost) {
        let brings = cost.transfer_ns > 0;
        if brings {
            for array in read_by(&task) {
                *self.coming.entry(array).or_default() += 1;
            }
        }
        self.queued_ns += cost.total_ns;
        self.tasks.insert(place, Waiting { task, cost, place, brings });
    }

    /// Whether an array will be copied for the queued tasks.
    pub(super) fn brings(&self, array: ArrayId) -> bool {
        self.coming.contains_key(&array)
    }

    /// The next task, its cost, and its key: the first one, or, with `by_data`, the one of the first one's rank with
    /// the fewest missing bytes.
    pub(super) fn pop(&mut self, by_data: Option<usize>) -> Option<(ReadyTask, Cost, QueueKey)> {
        let missing = |worker| move |waiting: &Waiting| waiting.task.missing_bytes(worker);
        let index = match by_data {
            Some(worker) => least(self.tasks.of_first_rank().take(LOOK).map(missing(worker))),
            None => 0,
        };
        let Waiting { task, cost, place, brings } = self.tasks.remove(index)?;
        self.queued_ns -= cost.total_ns;
        if brings {
            read_by(&task).for_each(|array| self.forget_coming(array));
        }
        Some((task, cost, place))
    }

    /// Decrements the number of tasks that an array is copied for.
    fn forget_coming(&mut self, array: ArrayId) {
        if let Some(count) = self.coming.get_mut(&array) {
            *count -= 1;
            if *count == 0 {
                self.coming.remove(&array);
            }
        }
    }

    /// Records that the worker has taken a task.
    pub(super) fn take(&mut self, now_ns: u64, taken: Taken) {
        if self.taken.is_empty() {
            self.begin_ns = now_ns;
        }
        self.taken.push_back(taken);
    }

    /// Records that a task has ended; none if the worker had not taken it.
    pub(super) fn end(&mut self, now_ns: u64, sequence: u64) -> Option<Taken> {
        let index = self.taken.iter().position(|taken| taken.sequence == sequence)?;
        if index == 0 {
            self.begin_ns = now_ns;
        }
        self.taken.remove(index)
    }

    /// Sets the predicted duration of the taken tasks that are measured for group `group`.
    pub(super) fn expect(&mut self, group: usize, expected_ns: u64) {
        for taken in self.taken.iter_mut().filter(|taken| taken.sample_of == Some(group)) {
            taken.expected_ns = expected_ns;
        }
    }
}

/// The arrays that a task reads.
fn read_by(task: &ReadyTask) -> impl Iterator<Item = ArrayId> {
    task.arrays().filter(|array| array.mode != AccessMode::W).map(|array| array.array)
}

/// The index of the first of the least values; the search ends at 0.
fn least(values: impl Iterator<Item = usize>) -> usize {
    let mut best = (0, usize::MAX);
    for (index, value) in values.enumerate() {
        if value < best.1 {
            best = (index, value);
        }
        if value == 0 {
            break;
        }
    }
    best.0
}
