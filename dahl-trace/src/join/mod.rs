//! From the traces of several ranks to one.
//!
//! Each rank writes a file of its own, by its own clock. [`Clocks`] say when something was on one clock. Memory nodes, workers,
//! tasks and arrays get other numbers, so that no two ranks share one. A message becomes a transfer from the main memory of one
//! rank to that of another, and the task that receives it depends on the one that sends it: the critical path leads from rank
//! to rank.

mod clocks;
mod error;

use crate::Trace;
use crate::format::{About, TRANSFERS};
use crate::graph::Graph;
use crate::trace::{Cut, Idle, Link, MemorySample, Message, Node, PowerSample, Task, Text, Transfer, Worker};
use clocks::{Clocks, Passage};
use std::collections::{BTreeSet, HashMap};

pub use error::JoinError;

impl Trace {
    /// Joins the traces of all ranks of a run.
    ///
    /// The times of all ranks are on one clock: their clocks are compared by messages that the ranks exchange for this while they run,
    /// and no message arrives before it is sent. A message is a [transfer](Trace::transfers), and the task that
    /// receives it comes [after](Task::after) the one that sends it. The energy of the run is not known, since ranks on one machine
    /// read the same counters.
    ///
    /// # Errors
    /// If a trace is not that of a rank, if one is missing or there twice, or if they are not of one run.
    pub fn join(traces: impl IntoIterator<Item = Self>) -> Result<Self, JoinError> {
        let mut traces: Vec<Self> = traces.into_iter().collect();
        require_all_ranks(&traces)?;
        traces.sort_by_key(|trace| trace.about.rank);
        let ranks = traces.len();
        let clocks = Clocks::of(&traces, &passages(&traces));
        let mut joined = Joined { ranks: ranks as u64, ..Joined::default() };
        let about = about(&traces);
        for (rank, trace) in traces.into_iter().enumerate() {
            joined.add(rank, trace, &clocks);
        }
        joined.finish(about)
    }
}

/// Requires the trace of each rank of one run.
fn require_all_ranks(traces: &[Trace]) -> Result<(), JoinError> {
    let first = traces.first().ok_or(JoinError::None)?;
    let ranks = first.about.ranks.unwrap_or(0);
    let mut missing: BTreeSet<u32> = (0..ranks).collect();
    for Trace { about, .. } in traces {
        let rank = about.rank.ok_or_else(|| JoinError::NoRank { program: about.program.clone() })?;
        if about.ranks != Some(ranks) {
            return Err(JoinError::OtherRanks { ranks, rank, others: about.ranks.unwrap_or(0) });
        }
        if (&about.program, about.is_virtual) != (&first.about.program, first.about.is_virtual) {
            let (program, other) = (first.about.program.clone(), about.program.clone());
            return Err(JoinError::OtherRun { program, rank, other });
        }
        if !missing.remove(&rank) {
            return Err(JoinError::Twice { rank });
        }
    }
    if missing.is_empty() {
        Ok(())
    } else {
        Err(JoinError::Missing { missing: missing.into_iter().collect(), ranks })
    }
}

/// What wrote all of them.
fn about(traces: &[Trace]) -> About {
    let hosts: BTreeSet<&str> = traces.iter().map(|trace| &*trace.about.host).collect();
    About {
        host: hosts.into_iter().collect::<Vec<_>>().join(", "),
        started: traces.iter().map(|trace| trace.about.started).min().unwrap_or(0),
        rank: None,
        ..traces[0].about.clone()
    }
}

/// The messages of which both ends are known, by the clocks of both ranks.
fn passages(traces: &[Trace]) -> Vec<Passage> {
    let ends = |rank: usize| traces[rank].tasks.iter().filter_map(|task| Some((task.message?, task)));
    let is_sent = |rank: usize, message: &Message| message.from as usize == rank;
    let mut sent = HashMap::new();
    for rank in 0..traces.len() {
        sent.extend(
            ends(rank)
                .filter(|(message, _)| is_sent(rank, message))
                .map(|(message, task)| (message, task.taken_ns)),
        );
    }
    let mut passages = Vec::new();
    for rank in 0..traces.len() {
        for (message, task) in ends(rank).filter(|(message, _)| !is_sent(rank, message)) {
            if let Some(&sent_ns) = sent.get(&message) {
                passages.push(Passage {
                    from: message.from as usize,
                    to: rank,
                    sent_ns,
                    received_ns: task.end_ns(),
                });
            }
        }
    }
    passages
}

/// The parts of the joined trace so far.
#[derive(Default)]
struct Joined {
    /// How many there are: numbers of tasks and arrays are multiplied by it.
    ranks: u64,
    cut: Option<Cut>,
    duration_ns: u64,
    nodes: Vec<Node>,
    workers: Vec<Worker>,
    links: Vec<Link>,
    tasks: Vec<Task>,
    idle: Vec<Idle>,
    transfers: Vec<Transfer>,
    memory: Vec<MemorySample>,
    power: Vec<PowerSample>,
    /// The number of the main memory of each rank.
    homes: Vec<u32>,
}

impl Joined {
    /// Adds the trace of a rank.
    fn add(&mut self, rank: usize, trace: Trace, clocks: &Clocks) {
        let at = |ns: u64| clocks.at(rank, ns);
        let span = |start_ns: u64, duration_ns: u64| {
            let begin = at(start_ns);
            (begin, at(start_ns + duration_ns).saturating_sub(begin))
        };
        let number = |number: u64| number * self.ranks + rank as u64;
        let home = self.nodes.iter().map(|node| node.number + 1).max().unwrap_or(0);
        let named = |name: &str| format!("rank {rank}: {name}");
        let (workers, links) = (self.workers.len(), self.links.len());
        self.homes.push(home);
        self.cut = self.cut.or(trace.cut);
        self.duration_ns = self.duration_ns.max(at(trace.duration_ns));
        self.nodes.extend(
            trace.nodes.iter().map(|node| Node { number: node.number + home, name: named(&node.name) }),
        );
        for worker in trace.workers {
            let tid = self.workers.len() as u32 + 1;
            let (name, node) = (named(&worker.name), worker.node + home);
            self.workers.push(Worker { name, node, tid, ..worker });
        }
        for link in trace.links {
            let tid = TRANSFERS + self.links.len() as u32;
            let Link { name, from, to, .. } = link;
            self.links.push(Link { name: named(&name), from: from + home, to: to + home, tid });
        }
        self.tasks.extend(trace.tasks.into_iter().map(|mut task| {
            task.number = number(task.number);
            task.after.iter_mut().for_each(|before| *before = number(*before));
            task.arrays.iter_mut().for_each(|used| used.array = number(used.array));
            task.worker += workers;
            (task.start_ns, task.duration_ns) = span(task.start_ns, task.duration_ns);
            task.submitted_ns = at(task.submitted_ns);
            task.ready_ns = at(task.ready_ns);
            task.taken_ns = at(task.taken_ns);
            if task.message.is_some_and(|message| message.from as usize == rank) {
                // It may end after the message has arrived, when the network tells the sender.
                (task.start_ns, task.duration_ns) = (task.taken_ns, 0);
            }
            task
        }));
        self.idle.extend(trace.idle.into_iter().map(|mut idle| {
            idle.worker += workers;
            idle.before = idle.before.map(number);
            (idle.start_ns, idle.duration_ns) = span(idle.start_ns, idle.duration_ns);
            idle
        }));
        self.transfers.extend(trace.transfers.into_iter().map(|mut transfer| {
            transfer.link += links;
            transfer.array = number(transfer.array);
            (transfer.start_ns, transfer.duration_ns) = span(transfer.start_ns, transfer.duration_ns);
            transfer
        }));
        self.memory.extend(trace.memory.into_iter().map(|sample| MemorySample {
            at_ns: at(sample.at_ns),
            node: sample.node + home,
            ..sample
        }));
        self.power.extend(trace.power.into_iter().map(|sample| {
            let (at_ns, duration_ns) = span(sample.at_ns, sample.duration_ns);
            let domain = Text::from(named(&sample.domain));
            PowerSample { at_ns, duration_ns, node: sample.node + home, domain, ..sample }
        }));
    }

    /// Adds the messages: a transfer for each, and a dependency of the task that receives it.
    fn add_messages(&mut self) {
        let sent: HashMap<Message, (u64, u64)> = (self.tasks.iter())
            .filter_map(|task| Some((task.message?, task)))
            .filter(|(message, task)| self.workers[task.worker].node == self.homes[message.from as usize])
            .map(|(message, task)| (message, (task.number, task.start_ns)))
            .collect();
        let mut arrivals: Vec<(u64, usize)> = Vec::new();
        for (index, task) in self.tasks.iter_mut().enumerate() {
            let Some(message) = task.message else { continue };
            let Some(&(number, start_ns)) = sent.get(&message) else { continue };
            if number == task.number {
                continue;
            }
            arrivals.push((start_ns, index));
            let mut after = task.after.to_vec();
            after.push(number);
            after.sort_unstable();
            task.after = after.into();
        }
        arrivals.sort_unstable();
        let mut tracks = HashMap::<(u32, u32), Vec<(usize, u64)>>::new();
        for (start_ns, index) in arrivals {
            let task = &self.tasks[index];
            let Some(Message { from, to, .. }) = task.message else { continue };
            let (end_ns, used) = (task.end_ns(), task.arrays.first());
            let tracks = tracks.entry((from, to)).or_default();
            // One that begins before the previous one has arrived has a row of its own.
            let free = tracks.iter_mut().find(|(_, free_ns)| *free_ns <= start_ns);
            let link = match free {
                Some((link, free_ns)) => {
                    *free_ns = end_ns;
                    *link
                }
                None => {
                    let link = self.links.len();
                    tracks.push((link, end_ns));
                    self.links.push(Link {
                        name: format!("rank {from} to rank {to}"),
                        from: self.homes[from as usize],
                        to: self.homes[to as usize],
                        tid: TRANSFERS + link as u32,
                    });
                    link
                }
            };
            let (array, bytes) = used.map_or((0, 0), |used| (used.array, used.bytes.unwrap_or(0)));
            self.transfers.push(Transfer {
                link,
                name: Text::from(format!("message of array {array}")),
                start_ns,
                duration_ns: end_ns.saturating_sub(start_ns),
                array,
                bytes,
            });
        }
    }

    fn finish(mut self, about: About) -> Result<Trace, JoinError> {
        if self.workers.len() >= TRANSFERS as usize {
            return Err(JoinError::Workers { workers: self.workers.len(), most: TRANSFERS as usize - 1 });
        }
        self.tasks.sort_by_key(|task| task.number);
        self.add_messages();
        self.idle.sort_by_key(|idle| (idle.start_ns, idle.worker));
        self.memory.sort_by_key(|sample| (sample.at_ns, sample.node));
        self.power.sort_by(|a, b| (a.at_ns, a.node, &a.domain).cmp(&(b.at_ns, b.node, &b.domain)));
        // As the reader has them: workers before the hosts, links by their destination.
        let order = sorted(&self.workers, |worker| (worker.number.is_none(), worker.node, worker.tid));
        let place = places(&order);
        self.tasks.iter_mut().for_each(|task| task.worker = place[task.worker]);
        self.idle.iter_mut().for_each(|idle| idle.worker = place[idle.worker]);
        let workers = order.iter().map(|&worker| self.workers[worker].clone()).collect();
        let order = sorted(&self.links, |link| (link.to, link.from));
        let place = places(&order);
        self.transfers.iter_mut().for_each(|transfer| transfer.link = place[transfer.link]);
        let links = order.iter().map(|&link| self.links[link].clone()).collect();
        self.transfers.sort_by_key(|transfer| (transfer.start_ns, transfer.link));
        let graph =
            Graph::of(&self.tasks).map_err(|index| JoinError::Cycle { task: self.tasks[index].number })?;
        let Self { cut, duration_ns, nodes, tasks, idle, transfers, memory, power, .. } = self;
        Ok(Trace {
            about,
            cut,
            duration_ns,
            nodes,
            workers,
            links,
            tasks,
            idle,
            transfers,
            memory,
            power,
            energy: None,
            clock: Vec::new(),
            graph,
        })
    }
}

/// The indices of items in the order of their keys.
fn sorted<I, K: Ord>(items: &[I], key: impl Fn(&I) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&index| key(&items[index]));
    order
}

/// The new place of each item of an order.
fn places(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &old)| places[old] = new);
    places
}
