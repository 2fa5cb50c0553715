//! [`WorkerQueues`]: the queues of all workers, and the tasks that are not yet in any of them.

use super::explorer::{Estimate, Explorer, Offer};
use super::kinds::Kinds;
use super::worker_queue::{Taken, WorkerQueue};
use super::{EnergyWeight, Order, Rule};
use crate::access::AccessMode;
use crate::scheduler::sorted::QueueKey;
use crate::scheduler::{Workers, suits};
use crate::task::ReadyTask;

/// The assumed duration of a task before any duration is known, in nanoseconds.
const UNKNOWN_NS: u64 = 1000;

/// The queues of all workers, and tasks that are in none of them yet.
#[derive(Debug)]
pub(super) struct WorkerQueues {
    rule: Rule,
    energy: Option<EnergyWeight>,
    queues: Vec<WorkerQueue>,
    /// The memory node of each worker.
    nodes: Vec<usize>,
    workers: Option<Workers>,
    kinds: Kinds,
    explorer: Explorer,
    /// Tasks that wait for their ranks.
    unranked: Vec<ReadyTask>,
    estimates: Vec<Estimate>,
    /// The mean duration of a task.
    typical_ns: u64,
    /// The number of tasks placed so far.
    placed: u64,
    served: Served,
    tasks: usize,
}

/// The workers that got a task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    workers: u64,
    any: bool,
    all: bool,
}

/// What a worker gets.
#[derive(Debug)]
pub(super) enum Popped {
    Task(ReadyTask),
    Nothing,
    /// Tasks must be ranked first.
    Unranked,
}

impl Served {
    fn add(&mut self, worker: usize) {
        match 1_u64.checked_shl(worker as u32) {
            Some(bit) => self.workers |= bit,
            None => self.all = true,
        }
    }

    /// The workers that got tasks of their own.
    pub(super) fn workers(self) -> impl Iterator<Item = usize> {
        (0..64).filter(move |worker| self.workers >> worker & 1 == 1)
    }

    /// Whether any worker may get a task.
    pub(super) fn is_for_any(self) -> bool {
        self.any
    }

    /// Whether all workers must look.
    pub(super) fn is_for_all(self) -> bool {
        self.all
    }
}

impl WorkerQueues {
    pub(super) fn new(rule: Rule, tasks: usize, energy: Option<EnergyWeight>) -> Self {
        Self {
            rule,
            energy,
            queues: Vec::new(),
            nodes: Vec::new(),
            workers: None,
            kinds: Kinds::default(),
            explorer: Explorer::default(),
            unranked: Vec::new(),
            estimates: Vec::new(),
            typical_ns: UNKNOWN_NS,
            placed: 0,
            served: Served::default(),
            tasks,
        }
    }

    pub(super) fn start(&mut self, workers: &Workers) {
        self.workers = Some(workers.clone());
        let workers = workers.as_slice();
        self.queues = workers.iter().map(|info| WorkerQueue::new(self.tasks, !info.is_cpu())).collect();
        self.nodes = workers.iter().map(|info| info.node).collect();
        self.kinds = Kinds::new(workers);
    }

    /// The number of tasks queued for a worker.
    pub(super) fn count(&self, worker: usize) -> usize {
        self.queues[worker].len()
    }

    /// The number of waiting tasks in no queue.
    pub(super) fn common(&self) -> usize {
        self.explorer.waiting() + self.unranked.len()
    }

    /// The workers that got tasks since the last call.
    pub(super) fn take_served(&mut self) -> Served {
        std::mem::take(&mut self.served)
    }

    /// Keeps a task until a worker needs one.
    pub(super) fn wait_for_rank(&mut self, task: ReadyTask) {
        self.unranked.push(task);
        self.served.any = true;
    }

    /// The tasks that wait for their ranks.
    pub(super) fn unranked(&self) -> &[ReadyTask] {
        &self.unranked
    }

    /// Places the tasks that wait for their ranks, the largest first.
    pub(super) fn place_by_rank(&mut self, now_ns: u64, rank_ns: impl Fn(&ReadyTask) -> u64) {
        let mut unranked = std::mem::take(&mut self.unranked);
        let rank = |task: &ReadyTask| if task.is_combination() { i64::MAX } else { rank_ns(task) as i64 };
        // The last one is removed first.
        unranked.sort_unstable_by_key(|task| (rank(task), std::cmp::Reverse(task.sequence())));
        while let Some(task) = unranked.pop() {
            let rank = rank(&task);
            self.place_or_explore(task, rank, now_ns);
        }
        self.unranked = unranked;
    }

    /// Places a task that has become ready.
    pub(super) fn place_ready(&mut self, task: ReadyTask, now_ns: u64) {
        let rank = self.rank_of(&task);
        self.place_or_explore(task, rank, now_ns);
    }

    fn rank_of(&self, task: &ReadyTask) -> i64 {
        match self.rule.order {
            _ if task.is_combination() => i64::MAX,
            Order::Priority => task.priority().into(),
            Order::Ready | Order::Rank => 0,
        }
    }

    /// Places a task, or keeps it for a worker that can measure it.
    fn place_or_explore(&mut self, task: ReadyTask, rank: i64, now_ns: u64) {
        self.kinds.estimate(&task, &mut self.estimates);
        if self.estimates.iter().any(Estimate::is_unknown) {
            let footprint = task.footprint();
            if self.explorer.is_open(footprint, &self.estimates) {
                self.explorer.push(footprint, self.estimates.len(), task);
                self.served.all = true;
                return;
            }
        }
        self.place(task, rank, now_ns);
    }

    /// Adds a task to the queue where it will end first, or where its end and the worth of its energy are least; `estimates`
    /// are those of the task.
    fn place(&mut self, task: ReadyTask, rank: i64, now_ns: u64) {
        let number = if self.rule.order == Order::Ready { self.placed } else { task.sequence() };
        self.placed += 1;
        let place = QueueKey { rank, number };
        let able = || (0..self.queues.len()).filter(|&worker| task.can_run_on(worker));
        let run_ns =
            |worker: usize| self.estimates[self.kinds.of[worker]].expected_ns.unwrap_or(self.typical_ns);
        let fastest = able().min_by_key(|&worker| run_ns(worker));
        let all_end_ns = || self.queues.iter().map(|queue| queue.all_end_ns(now_ns)).max().unwrap_or(now_ns);
        let energy = self.energy.as_ref().map(|energy| (energy, all_end_ns()));
        let ends = able().map(|worker| {
            let transfer_ns = self.transfer_ns(&task, worker);
            let (end_ns, cost) = self.queues[worker].end_of(now_ns, place, run_ns(worker), transfer_ns);
            let energy_ns = energy.map_or(0, |(energy, all_end_ns)| {
                energy.worth_ns(worker, cost.run_ns, end_ns.saturating_sub(all_end_ns))
            });
            let end_ns = end_ns + self.later_ns(&task, worker, transfer_ns, fastest);
            (end_ns.saturating_add(energy_ns), worker, cost)
        });
        let (_, worker, cost) = ends.min_by_key(|&(end_ns, ..)| end_ns).unwrap_or_default();
        if cost.run_ns > 0 {
            self.typical_ns = (7 * self.typical_ns + cost.run_ns) / 8;
        }
        self.queues[worker].push(place, task, cost);
        self.served.add(worker);
    }

    /// The duration of the transfers that a task needs on a worker, except for those that queued tasks already need.
    fn transfer_ns(&self, task: &ReadyTask, worker: usize) -> u64 {
        if !self.rule.counts_transfers {
            return 0;
        }
        let node = self.nodes[worker];
        let comes = |array| {
            let there = self.queues.iter().zip(&self.nodes).filter(|&(_, &other)| other == node);
            there.into_iter().any(|(queue, _)| queue.brings(array))
        };
        task.transfers(worker).filter(|&(array, _)| !comes(array)).map(|(_, time_ns)| time_ns).sum()
    }

    /// The duration of later transfers that follow from running a task on a worker. The output of a task without inputs
    /// is needed at its previous location, and a task there waits for the transfer: it counts twice, as if it went
    /// there and back.
    fn later_ns(&self, task: &ReadyTask, worker: usize, transfer_ns: u64, fastest: Option<usize>) -> u64 {
        if !self.rule.counts_transfers {
            return 0;
        }
        match task.returning_ns(worker) {
            Some(returning_ns) => 2 * returning_ns,
            None => {
                self.following_ns(task, worker).min(transfer_ns) / 2 + self.leaving_ns(task, worker, fastest)
            }
        }
    }

    /// The duration of transfers of a task's outputs from a worker back to where most of its missing inputs come from.
    /// About every second time the related data are still there, so half of it counts.
    fn following_ns(&self, task: &ReadyTask, worker: usize) -> u64 {
        let node = self.nodes[worker];
        let Some((_, from, _)) = task.missing(node).max_by_key(|&(.., bytes)| bytes) else { return 0 };
        let made = task.arrays().filter(|array| array.mode != AccessMode::R);
        made.map(|array| self.between_ns(node, from, array.bytes)).sum()
    }

    /// The duration of transfers from a worker to the fastest worker for the task: of its outputs, and of what it
    /// changes that the fastest worker already has. The following tasks probably run there. Without this term, a chain
    /// of tasks that begins with data on a slower worker would stay there, since each task alone takes less time than a
    /// transfer of its data. What it changes that is elsewhere does not count.
    fn leaving_ns(&self, task: &ReadyTask, worker: usize, fastest: Option<usize>) -> u64 {
        let Some(fastest) = fastest else { return 0 };
        let (from, to) = (self.nodes[worker], self.nodes[fastest]);
        let leaving = task.leaving_bytes(to).filter(|_| from != to);
        leaving.map(|bytes| self.between_ns(from, to, bytes)).sum()
    }

    /// The duration of a transfer from one memory node to another.
    fn between_ns(&self, from: usize, to: usize, bytes: usize) -> u64 {
        self.workers.as_ref().map_or(0, |workers| workers.transfer_ns(from, to, bytes))
    }

    /// A task for a worker.
    pub(super) fn pop(&mut self, worker: usize, now_ns: u64) -> Popped {
        loop {
            if let Some(task) = self.pop_own(worker, now_ns) {
                return Popped::Task(task);
            }
            if self.explorer.waiting() == 0 {
                return Popped::Nothing;
            }
            let kinds = &self.kinds;
            let estimates = &mut self.estimates;
            let kind = kinds.of[worker];
            let estimate = |task: &ReadyTask, into: &mut Vec<Estimate>| kinds.estimate(task, into);
            let queues = &self.queues;
            let is_free =
                |kind| kinds.of.iter().zip(queues).any(|(&of, queue)| of == kind && queue.is_free_soon());
            let found = self.explorer.pop(kind, worker, estimates, estimate, is_free);
            match found {
                None => return Popped::Nothing,
                Some(Offer::Task(task, sample_of)) => {
                    let expected_ns = self.estimates[kind].expected_ns.unwrap_or(0);
                    let taken = Taken { sequence: task.sequence(), expected_ns, sample_of };
                    self.queues[worker].take(now_ns, taken);
                    return Popped::Task(task);
                }
                Some(Offer::Known(group)) => {
                    self.close(group, now_ns);
                    if !self.unranked.is_empty() {
                        return Popped::Unranked;
                    }
                }
            }
        }
    }

    /// A task from a worker's own queue. Tasks that it cannot run any more are placed again.
    fn pop_own(&mut self, worker: usize, now_ns: u64) -> Option<ReadyTask> {
        let by_data = (self.rule.order == Order::Priority).then_some(worker);
        loop {
            let (task, cost, place) = self.queues[worker].pop(by_data)?;
            if suits(&task, worker, self.queues.len()) {
                let (sequence, expected_ns) = (task.sequence(), cost.total_ns);
                self.queues[worker].take(now_ns, Taken { sequence, expected_ns, sample_of: None });
                return Some(task);
            }
            self.place_or_explore(task, place.rank, now_ns);
        }
    }

    /// Places the tasks of a group whose durations are now known; `estimates` are those of its tasks.
    fn close(&mut self, group: usize, now_ns: u64) {
        for (queue, &kind) in self.queues.iter_mut().zip(&self.kinds.of) {
            queue.expect(group, self.estimates[kind].expected_ns.unwrap_or(self.typical_ns));
        }
        while let Some(task) = self.explorer.remove(group) {
            if self.rule.order == Order::Rank {
                self.unranked.push(task);
            } else {
                let rank = self.rank_of(&task);
                self.place(task, rank, now_ns);
            }
        }
    }

    /// Records that a task has ended.
    pub(super) fn end(&mut self, sequence: u64, worker: Option<usize>, now_ns: u64) {
        // A task that a device could not run has ended on another worker than the one that took it.
        let mut likely = worker.into_iter().chain(0..self.queues.len());
        let queues = &mut self.queues;
        let ended = likely.find_map(|worker| Some((worker, queues[worker].end(now_ns, sequence)?)));
        let Some((worker, taken)) = ended else { return };
        if let Some(group) = taken.sample_of {
            self.explorer.end(group, self.kinds.of[worker]);
        }
        self.served.all |= self.explorer.waiting() > 0;
    }
}
