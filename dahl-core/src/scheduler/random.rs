//! [`Random`]: sends each task to a random worker, in proportion to speed.

use super::{Scheduler, WorkerQueues, Workers, suits};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::task::ReadyTask;

/// A queue for each worker. A task goes to a worker with a probability proportional to its predicted speed there. A
/// worker without measurements has the mean speed. A push reads each worker's speed, so its cost is linear in the
/// number of workers.
///
/// The random numbers follow from the seed; which task gets which number follows from the order in which tasks become
/// ready.
#[derive(Debug)]
pub(crate) struct Random {
    /// Tasks that a worker's queue cannot take are in the shared one, for any worker that can run them.
    queues: WorkerQueues,
    /// The state of splitmix64 (Steele, Lea, Flood 2014).
    state: AtomicU64,
    workers: Option<Workers>,
}

impl Random {
    pub(crate) fn new(workers: usize, tasks: usize, seed: u64) -> Self {
        Self { queues: WorkerQueues::new(workers, tasks), state: AtomicU64::new(seed), workers: None }
    }

    /// A number from 0 to 1, excluding 1.
    fn draw(&self) -> f64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The worker for a task.
    fn choose(&self, task: &ReadyTask) -> usize {
        let speed = |worker| task.expected_ns(worker).map(|expected_ns| 1.0 / (expected_ns.max(1) as f64));
        let able = || (0..self.queues.len()).filter(|&worker| task.can_run_on(worker));
        let known = able().filter_map(speed);
        let (count, sum) = known.fold((0, 0.0), |(count, sum), speed| (count + 1, sum + speed));
        let mean = if count == 0 { 1.0 } else { sum / f64::from(count) };
        let weight = |worker| speed(worker).unwrap_or(mean);
        let mut left = self.draw() * able().map(weight).sum::<f64>();
        let chosen = able().find(|&worker| {
            left -= weight(worker);
            left < 0.0
        });
        chosen.or_else(|| able().next_back()).unwrap_or(0)
    }
}

/// How many tasks for other workers a worker passes on before it gives up.
const MOST_TRIES: usize = 1024;

impl Scheduler for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn sees_submissions(&self) -> bool {
        false
    }

    fn start(&mut self, workers: &Workers) {
        self.workers = Some(workers.clone());
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let worker = self.choose(&task);
        self.queues.push(task, Some(worker));
        if let Some(workers) = &self.workers {
            workers.wake(worker);
        }
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let worker = worker?;
        // Tasks of the shared queue for other workers return to it while those workers' queues are full.
        for _ in 0..MOST_TRIES {
            let task = self.queues.pop_own(worker).or_else(|| self.queues.pop_shared())?;
            if suits(&task, worker, self.queues.len()) {
                return Some(task);
            }
            self.push(task, None); // the device is lost, or the task is another worker's
        }
        None
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}
