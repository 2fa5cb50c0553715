//! [`DequeModel`]: a task goes to the worker where it is expected to end first: `dm`, `dmda`, `dmdas`, `heft`.
//!
//! Each worker has a [`WorkerQueue`]: the tasks that it has taken and those that wait for it, with their expected
//! durations. No worker steals from another's queue; only a lost device passes its tasks on. Tasks that still need
//! measurements wait apart ([`Explorer`]). `heft` places tasks as late as possible, when a worker asks, so that of the
//! ready tasks the one with the longest path to the end ([`Graph`]) chooses its worker first.

mod energy_weight;
mod explorer;
mod graph;
mod kinds;
mod worker_queue;
mod worker_queues;

pub(crate) use energy_weight::{EnergyWeight, Power};
use graph::{Graph, GraphAccess};
use worker_queues::{Popped, WorkerQueues};

use super::{Scheduler, Workers};
use crate::observer::Submission;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::ReadyTask;

/// The rules of a scheduler of this family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// Whether transfers count.
    counts_transfers: bool,
    order: Order,
}

/// The order in which a worker runs its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The order in which they became ready.
    Ready,
    /// By priority, and among equal ones by the fewest missing bytes.
    Priority,
    /// By upward rank.
    Rank,
}

impl Rule {
    pub(crate) const DM: Self = Self { name: "dm", counts_transfers: false, order: Order::Ready };
    pub(crate) const DMDA: Self = Self { name: "dmda", counts_transfers: true, order: Order::Ready };
    pub(crate) const DMDAS: Self = Self { name: "dmdas", counts_transfers: true, order: Order::Priority };
    pub(crate) const HEFT: Self = Self { name: "heft", counts_transfers: true, order: Order::Rank };
}

/// A scheduler that places a task on the worker where its predicted end is earliest.
#[derive(Debug)]
pub(crate) struct DequeModel {
    rule: Rule,
    queues: Mutex<WorkerQueues>,
    /// The submitted tasks; only for upward ranks. It is locked after `queues`.
    graph: Mutex<Graph>,
    /// For each worker, the number of tasks that it may get, so that a worker without tasks takes no lock.
    chances: Vec<AtomicUsize>,
    workers: Option<Workers>,
    transfer: MeanTransfer,
}

/// The mean transfer time over pairs of workers: a fixed time, and a time per byte.
#[derive(Clone, Copy, Debug, Default)]
struct MeanTransfer {
    fixed_ns: f64,
    ns_per_byte: f64,
}

impl MeanTransfer {
    fn of(workers: &Workers) -> Self {
        let infos = workers.as_slice();
        let mean_ns = |bytes| {
            let nodes = || infos.iter().map(|info| info.node);
            let pairs = nodes().flat_map(|from| nodes().map(move |to| (from, to)));
            let sum: u64 = pairs.map(|(from, to)| workers.transfer_ns(from, to, bytes)).sum();
            sum as f64 / (infos.len() * (infos.len() - 1)).max(1) as f64
        };
        const MANY: usize = 1 << 30;
        let fixed_ns = mean_ns(0);
        Self { fixed_ns, ns_per_byte: (mean_ns(MANY) - fixed_ns) / MANY as f64 }
    }

    fn time_ns(self, bytes: usize) -> u64 {
        (self.fixed_ns + self.ns_per_byte * bytes as f64) as u64
    }
}

impl DequeModel {
    pub(crate) fn new(rule: Rule, tasks: usize, energy: Option<EnergyWeight>) -> Self {
        Self {
            rule,
            queues: Mutex::new(WorkerQueues::new(rule, tasks, energy)),
            graph: Mutex::default(),
            chances: Vec::new(),
            workers: None,
            transfer: MeanTransfer::default(),
        }
    }

    fn queues(&self) -> MutexGuard<'_, WorkerQueues> {
        self.queues.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn now_ns(&self) -> u64 {
        self.workers.as_ref().map_or(0, |workers| workers.clock().now_ns())
    }

    /// Places the tasks that wait for their ranks, the largest first.
    fn place_by_rank(&self, queues: &mut WorkerQueues, now_ns: u64) {
        let mut graph = self.graph();
        for task in queues.unranked().iter().filter(|task| !task.is_combination()) {
            let footprint = task.footprint();
            if !graph.knows(footprint) {
                let can_run = |worker: &usize| task.can_run_on(*worker);
                let able = (0..self.chances.len()).filter(can_run);
                learn(&mut graph, footprint, able.filter_map(|worker| task.expected_ns(worker)));
            }
        }
        graph.update();
        queues.place_by_rank(now_ns, |task| graph.rank_ns(task.sequence()));
    }

    /// Unlocks the queues, and wakes workers that got a task.
    fn publish(&self, mut queues: MutexGuard<'_, WorkerQueues>) {
        let common = queues.common();
        for (worker, chances) in self.chances.iter().enumerate() {
            chances.store(common + queues.count(worker), Ordering::Release);
        }
        let served = queues.take_served();
        drop(queues);
        if let Some(workers) = &self.workers {
            served.workers().for_each(|worker| workers.wake(worker));
            if served.is_for_all() {
                workers.wake_all();
            } else if served.is_for_any() {
                workers.wake_one();
            }
        }
    }
}

impl Scheduler for DequeModel {
    fn name(&self) -> &'static str {
        self.rule.name
    }

    fn start(&mut self, workers: &Workers) {
        self.chances = workers.as_slice().iter().map(|_| AtomicUsize::new(0)).collect();
        self.transfer = MeanTransfer::of(workers);
        self.queues().start(workers);
        self.workers = Some(workers.clone());
    }

    fn keeps_programs_together(&self) -> bool {
        self.rule.order != Order::Rank
    }

    fn submitted(&self, task: &Submission<'_>) {
        if self.rule.order != Order::Rank {
            return;
        }
        let footprint = task.footprint();
        let mut graph = self.graph();
        let transfer_ns = |bytes| self.transfer.time_ns(bytes);
        graph.add(
            task.sequence(),
            footprint,
            task.arrays().map(|array| GraphAccess {
                array: array.array,
                mode: array.mode,
                transfer_ns: transfer_ns(array.bytes),
            }),
        );
        if !graph.knows(footprint) {
            let able = (0..self.chances.len()).filter(|&worker| task.can_run_on(worker));
            learn(&mut graph, footprint, able.filter_map(|worker| task.expected_ns(worker)));
        }
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        let now_ns = self.now_ns();
        let mut queues = self.queues();
        if self.rule.order == Order::Rank {
            queues.wait_for_rank(task);
        } else {
            queues.place_ready(task, now_ns);
        }
        self.publish(queues);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let worker = worker?;
        if self.chances[worker].load(Ordering::Acquire) == 0 {
            return None;
        }
        let now_ns = self.now_ns();
        let mut queues = self.queues();
        let task = loop {
            if !queues.unranked().is_empty() {
                self.place_by_rank(&mut queues, now_ns);
            }
            match queues.pop(worker, now_ns) {
                Popped::Task(task) => break Some(task),
                Popped::Nothing => break None,
                Popped::Unranked => {}
            }
        };
        self.publish(queues);
        task
    }

    fn completed(&self, sequence: u64, worker: Option<usize>) {
        let now_ns = self.now_ns();
        if self.rule.order == Order::Rank {
            self.graph().remove(sequence);
        }
        let mut queues = self.queues();
        queues.end(sequence, worker, now_ns);
        self.publish(queues);
    }

    fn wakes_workers(&self) -> bool {
        true
    }
}

/// Records the mean duration of tasks with a footprint, if any is known.
fn learn(graph: &mut Graph, footprint: u64, expected_ns: impl Iterator<Item = u64>) {
    let (count, sum) = expected_ns.fold((0, 0), |(count, sum), expected_ns| (count + 1, sum + expected_ns));
    if let Some(mean_ns) = u64::checked_div(sum, count) {
        graph.learn(footprint, mean_ns);
    }
}
