//! [`Plan`]: a static placement, and the scheduler that follows it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dahl::{ReadyTask, Scheduler};

/// Which worker runs each task, and in which order it takes those of its own that are ready: smaller ranks first.
/// Tasks are known by their numbers in the order of submission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Of each task, its worker.
    pub workers: Vec<usize>,
    /// Of each task, its rank.
    pub ranks: Vec<i64>,
}

impl Plan {
    /// Adds a task that is taken after all others.
    fn note(&mut self, task: usize, worker: usize) {
        let rank = self.ranks.iter().max().map_or(0, |rank| rank + 1);
        self.workers.resize(self.workers.len().max(task + 1), 0);
        self.ranks.resize(self.ranks.len().max(task + 1), 0);
        (self.workers[task], self.ranks[task]) = (worker, rank);
    }

    fn worker(&self, sequence: u64) -> usize {
        self.workers.get(sequence as usize).copied().unwrap_or(0)
    }

    fn rank(&self, sequence: u64) -> i64 {
        self.ranks.get(sequence as usize).copied().unwrap_or(sequence as i64)
    }
}

/// Follows a [`Plan`].
pub struct Planned {
    plan: Plan,
    ready: Mutex<BTreeMap<(usize, i64, Reverse<u64>), ReadyTask>>,
}

impl Planned {
    /// A scheduler that follows `plan`.
    pub fn new(plan: Plan) -> Self {
        Self { plan, ready: Mutex::default() }
    }

    fn ready(&self) -> MutexGuard<'_, BTreeMap<(usize, i64, Reverse<u64>), ReadyTask>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scheduler for Planned {
    fn name(&self) -> &'static str {
        "planned"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let sequence = task.sequence();
        let key = (self.plan.worker(sequence), self.plan.rank(sequence), Reverse(sequence));
        self.ready().insert(key, task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let mut ready = self.ready();
        let key = match worker {
            Some(worker) => *ready.range((worker, i64::MIN, Reverse(u64::MAX))..).next()?.0,
            None => *ready.first_key_value()?.0,
        };
        if worker.is_some_and(|worker| worker != key.0) { None } else { ready.remove(&key) }
    }
}

/// Gives whoever asks the task that has been ready for longest, and notes which worker that was.
pub struct Noting {
    workers: usize,
    ready: Mutex<VecDeque<ReadyTask>>,
    noted: Arc<Mutex<Plan>>,
}

impl Noting {
    /// For the first so many workers; the plan that comes of it is in `noted`.
    pub fn new(workers: usize, noted: &Arc<Mutex<Plan>>) -> Self {
        Self { workers, ready: Mutex::default(), noted: Arc::clone(noted) }
    }
}

impl Scheduler for Noting {
    fn name(&self) -> &'static str {
        "noting"
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        if worker.is_some_and(|worker| worker >= self.workers) {
            return None;
        }
        let task = self.ready.lock().unwrap_or_else(PoisonError::into_inner).pop_front()?;
        let mut plan = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        plan.note(task.sequence() as usize, worker.unwrap_or(0));
        Some(task)
    }
}
