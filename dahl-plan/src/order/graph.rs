//! [`Graph`]: tasks with their readers; [`State`]: a set of tasks that have ended, and what lives then.

use super::error::Error;
use super::task::Task;

/// A task as the algorithms see it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) reads: Vec<usize>,
    pub(super) readers: Vec<usize>,
    pub(super) output: u64,
    temporary: u64,
    is_result: bool,
}

/// Tasks without cycles.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
}

/// The tasks that have ended, one bit each.
pub(super) type Set = Box<[u64]>;

/// The tasks that have ended, and the bytes that live after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) ended: Set,
    pub(super) live: u64,
}

/// What a task does to the memory of a [`State`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Effect {
    /// The bytes that live while it runs.
    pub(super) during: u64,
    /// The bytes that live after it.
    pub(super) after: u64,
}

impl Node {
    /// The bytes that the task needs itself while it runs.
    pub(super) fn while_running(&self) -> u64 {
        self.output + self.temporary
    }
}

impl Graph {
    pub(super) fn new(tasks: &[Task]) -> Result<Self, Error> {
        let node = |task: &Task| {
            let Task { output, temporary, is_result, .. } = *task;
            let mut reads = task.reads.clone();
            reads.sort_unstable();
            reads.dedup();
            Node { reads, readers: Vec::new(), output, temporary, is_result }
        };
        let mut graph = Self { nodes: tasks.iter().map(node).collect() };
        let mut sum = 0_u64;
        for (task, Task { output, temporary, .. }) in tasks.iter().enumerate() {
            sum = sum
                .checked_add(*output)
                .and_then(|sum| sum.checked_add(*temporary))
                .ok_or(Error::TooLarge)?;
            for reads in graph.nodes[task].reads.clone() {
                let tasks = tasks.len();
                let node = graph.nodes.get_mut(reads).ok_or(Error::Unknown { task, reads, tasks })?;
                node.readers.push(task);
            }
        }
        if sum > u64::MAX / 2 {
            return Err(Error::TooLarge);
        }
        graph.has_no_cycle()?;
        Ok(graph)
    }

    fn has_no_cycle(&self) -> Result<(), Error> {
        let mut has_ended = vec![false; self.nodes.len()];
        self.topological().into_iter().for_each(|task| has_ended[task] = true);
        // Back along tasks that wait, until one comes again.
        let waiting = |task: &usize| !has_ended[*task];
        let Some(mut task) = (0..has_ended.len()).find(waiting) else { return Ok(()) };
        let mut is_met = vec![false; has_ended.len()];
        while !std::mem::replace(&mut is_met[task], true) {
            task = self.nodes[task].reads.iter().copied().find(waiting).expect("it waits for one that waits");
        }
        Err(Error::Cycle { task })
    }

    /// The tasks, each after those that it reads. Those of a cycle and those that wait for one are left out.
    pub(super) fn topological(&self) -> Vec<usize> {
        let mut waits: Vec<usize> = self.nodes.iter().map(|node| node.reads.len()).collect();
        let mut order: Vec<usize> = (0..waits.len()).filter(|&task| waits[task] == 0).collect();
        let mut next = 0;
        while let Some(&task) = order.get(next) {
            next += 1;
            for &reader in &self.nodes[task].readers {
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    order.push(reader);
                }
            }
        }
        order
    }

    /// The most bytes that live when the tasks run in this order.
    pub(super) fn peak(&self, order: &[usize]) -> u64 {
        let (mut state, mut peak) = (self.start(), 0);
        for &task in order {
            let effect = self.effect(&state, task);
            peak = peak.max(effect.during);
            state = state.after(task, effect);
        }
        peak
    }

    /// The state before all tasks.
    pub(super) fn start(&self) -> State {
        State { ended: vec![0; self.nodes.len().div_ceil(64)].into(), live: 0 }
    }

    /// Whether all tasks that `task` reads have ended, and it has not.
    pub(super) fn is_ready(&self, state: &State, task: usize) -> bool {
        !state.has_ended(task) && self.nodes[task].reads.iter().all(|&reads| state.has_ended(reads))
    }

    /// What running a task that is ready does.
    pub(super) fn effect(&self, state: &State, task: usize) -> Effect {
        let node = &self.nodes[task];
        let is_last = |reads: &&usize| {
            let mut readers = self.nodes[**reads].readers.iter();
            !self.nodes[**reads].is_result && readers.all(|&reader| reader == task || state.has_ended(reader))
        };
        let freed: u64 = node.reads.iter().filter(is_last).map(|&reads| self.nodes[reads].output).sum();
        let kept = if node.readers.is_empty() && !node.is_result { 0 } else { node.output };
        Effect { during: state.live + node.while_running(), after: state.live + kept - freed }
    }

    /// Bytes that live at some time in every order: while some task runs, or at the end.
    pub(super) fn lower_bound(&self) -> u64 {
        let inputs = |node: &Node| node.reads.iter().map(|&reads| self.nodes[reads].output).sum::<u64>();
        let during = self.nodes.iter().map(|node| inputs(node) + node.while_running());
        let results = self.nodes.iter().filter(|node| node.is_result).map(|node| node.output).sum();
        during.max().unwrap_or(0).max(results)
    }
}

impl State {
    pub(super) fn has_ended(&self, task: usize) -> bool {
        self.ended[task / 64] >> (task % 64) & 1 == 1
    }

    /// The state after a task.
    pub(super) fn after(&self, task: usize, effect: Effect) -> Self {
        let mut ended = self.ended.clone();
        ended[task / 64] |= 1 << (task % 64);
        Self { ended, live: effect.after }
    }
}
