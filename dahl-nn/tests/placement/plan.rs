//! [`Plan`]: a static placement, and the scheduler that follows it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dahl::{ReadyTask, Scheduler};

/// The worker of each task, and the order in which it takes its ready tasks: smaller ranks first. Tasks are identified
/// by their number in the order of submission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The worker of each task.
    pub workers: Vec<usize>,
    /// The rank of each task.
    pub ranks: Vec<i64>,
}

impl Plan {
    /// The plan that a run of so many tasks has written.
    pub fn from_file(path: &Path, tasks: usize) -> std::io::Result<Self> {
        let mut plan = Self { workers: vec![0; tasks], ranks: vec![0; tasks] };
        for (rank, line) in (0..).zip(fs::read_to_string(path)?.lines()) {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["task", number, .., worker] = words[..]
                && let (Ok(number), Ok(worker)) = (number.parse::<usize>(), worker.parse())
                && number < tasks
            {
                (plan.workers[number], plan.ranks[number]) = (worker, rank);
            }
        }
        Ok(plan)
    }

    fn worker(&self, sequence: u64) -> usize {
        self.workers.get(sequence as usize).copied().unwrap_or(0)
    }

    fn rank(&self, sequence: u64) -> i64 {
        self.ranks.get(sequence as usize).copied().unwrap_or(sequence as i64)
    }
}

/// Ready tasks, by worker, rank and number.
type Ready = BTreeMap<(usize, i64, Reverse<u64>), ReadyTask>;

/// Follows a [`Plan`].
pub struct Planned {
    plan: Plan,
    ready: Mutex<Ready>,
}

impl Planned {
    /// A scheduler that follows `plan`.
    pub fn new(plan: Plan) -> Self {
        Self { plan, ready: Mutex::default() }
    }

    fn ready(&self) -> MutexGuard<'_, Ready> {
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
