//! [`Writer`]: turns events into lines. One thread at a time uses it.

use std::collections::BTreeMap;
use std::sync::Arc;

use dahl_trace::format::{Cause, End, Fact, Idle, Line, Metadata, Transfer as TransferLine, What};

use super::chains::{Chains, Predecessor, Predecessors, SliceEnd};
use super::event::{Ended, Ordered, ReplayedStep, Submitted, TraceEvent};
use super::file::TraceFile;
use super::idle::{Steps, causes};
use super::lines;
use super::memory::Reserved;
use super::transfers::Tracks;
use super::waiting::{Pending, Waiting};
use crate::machine::Transfer;
use crate::machine::WorkerInfo;

/// The least gap between two tasks in real time that gets a slice: shorter ones are the runtime's cost of a task.
const SHORTEST_IDLE_NS: u64 = 1_000;
/// Tasks after which their lines are written, even if there are more events to take.
const TOGETHER: u64 = 1024;

/// The writer's view of the runtime.
#[derive(Clone, Copy)]
pub(super) struct Stage<'a> {
    pub(super) workers: &'a [WorkerInfo],
    /// The names of the memory nodes.
    pub(super) nodes: &'a [String],
    pub(super) scheduler: &'a str,
    pub(super) is_virtual: bool,
    /// The rank, and how many there are, if there are several.
    pub(super) rank: Option<(usize, usize)>,
}

/// Converts events to lines.
#[derive(Debug)]
pub(super) struct Writer {
    file: TraceFile,
    /// The workers, and finally the host.
    seats: Vec<Seat>,
    shortest_idle_ns: u64,
    /// The number of the next ordered event, and those that arrived before it.
    next: u64,
    early: BTreeMap<u64, Ordered>,
    chains: Chains,
    waiting: Waiting,
    reserved: Reserved,
    tracks: Tracks,
    nodes: Vec<String>,
    tasks: u64,
    arrows: u64,
    latest_ns: u64,
}

/// The state of a worker's slices.
#[derive(Debug)]
struct Seat {
    pid: u32,
    tid: u32,
    /// The end of its last task.
    free_ns: u64,
    /// Whether it is the host, which runs tasks only while it waits, so that its idle time has no cause.
    is_host: bool,
}

impl Writer {
    pub(super) fn new(file: TraceFile, stage: Stage<'_>) -> Self {
        let Stage { workers, nodes, is_virtual, .. } = stage;
        let mut seats: Vec<Seat> =
            workers.iter().enumerate().map(|(index, info)| Seat::new(info.node, index)).collect();
        seats.push(Seat { is_host: true, ..Seat::new(0, workers.len()) });
        let mut writer = Self {
            file,
            seats,
            shortest_idle_ns: if is_virtual { 1 } else { SHORTEST_IDLE_NS },
            next: 0,
            early: BTreeMap::new(),
            chains: Chains::default(),
            waiting: Waiting::default(),
            reserved: Reserved::new(nodes.len()),
            tracks: Tracks::new(nodes.len()),
            nodes: nodes.to_vec(),
            tasks: 0,
            arrows: 0,
            latest_ns: 0,
        };
        writer.introduce(stage);
        writer.file.flush();
        writer
    }

    /// Writes the metadata of nodes and workers.
    fn introduce(&mut self, stage: Stage<'_>) {
        self.file.push(&lines::about(stage.scheduler, stage.is_virtual, stage.rank));
        for (node, name) in stage.nodes.iter().enumerate() {
            self.file.push(&lines::node_name(node, name));
        }
        for (index, (info, seat)) in stage.workers.iter().zip(&self.seats).enumerate() {
            self.file.push(&lines::thread_name(seat.pid, seat.tid, info.name.clone()));
            self.file.push(&lines::worker(seat.pid, seat.tid, Some(index), &info.kind));
        }
        for line in lines::host(self.seats[stage.workers.len()].tid) {
            self.file.push(&line);
        }
    }

    /// Takes an event.
    pub(super) fn take(&mut self, event: TraceEvent) {
        match event {
            TraceEvent::Ordered(number, ordered) => {
                self.early.insert(number, ordered);
                while let Some(ordered) = self.early.remove(&self.next) {
                    self.next += 1;
                    self.take_ordered(ordered);
                }
            }
            TraceEvent::Ended(ended) => {
                self.waiting.end(ended);
                self.write_tasks();
            }
            TraceEvent::Reserved { node, bytes, at_ns } => self.reserved.change(at_ns, node, bytes),
            TraceEvent::Power { domain, node, from_ns, to_ns, watts } => {
                self.file.push(&lines::power(&domain, node, (from_ns, to_ns), watts));
            }
            TraceEvent::Compared(comparison) => self.file.push(&lines::compared(comparison)),
            TraceEvent::Energy(energy) => self.file.push(&lines::energy(*energy)),
        }
    }

    fn take_ordered(&mut self, ordered: Ordered) {
        match ordered {
            Ordered::Task(task) => {
                let itself = Arc::new(Predecessor::of(&task));
                self.submit(task, itself, Predecessors::new());
            }
            Ordered::Replay(steps) => self.submit_replay(steps),
            Ordered::Host(array) => self.chains.add_host(array),
            Ordered::Split(split) => self.chains.begin_partition(&split),
            Ordered::Join { join, whole } => {
                let after = self.chains.add_passage(&join);
                if let Some(whole) = whole {
                    self.chains.end_partition(whole, after);
                }
            }
            Ordered::Transferred { transfer, begin_ns, end_ns } => self.transfer(transfer, begin_ns, end_ns),
            Ordered::Gone(array) => self.chains.forget(array),
        }
    }

    /// A task is submitted. It depends on these tasks, and by its arrays on others.
    fn submit(&mut self, task: Submitted, itself: Arc<Predecessor>, after: Predecessors) {
        let after = self.chains.add_task(&itself, &task.desc, after);
        self.waiting.submit(Pending { task, itself, after });
        self.write_tasks();
    }

    /// The tasks of a replay are submitted. Chains do not know that an array of a program is a part of another, or has its memory; the
    /// program does. A step that is no task stands for those before it.
    fn submit_replay(&mut self, steps: Vec<ReplayedStep>) {
        let mut before = vec![Predecessors::new(); steps.len()];
        for (number, ReplayedStep { task, after }) in steps.into_iter().enumerate() {
            let own = std::mem::take(&mut before[number]);
            let itself = task.as_ref().map(|task| Arc::new(Predecessor::of(task)));
            let stands_for = itself.as_ref().map_or(&own[..], std::slice::from_ref);
            for &later in &after {
                before[later as usize].extend_from_slice(stands_for);
            }
            if let (Some(task), Some(itself)) = (task, itself) {
                self.submit(task, itself, own);
            }
        }
    }

    /// Writes the lines of the events taken so far.
    pub(super) fn flush(&mut self) {
        for line in self.reserved.take_lines() {
            self.file.push(&line);
        }
        self.file.flush();
    }

    /// The number of tasks that have ended and have no line.
    #[cfg(test)]
    pub(super) fn unwritten(&self) -> usize {
        self.waiting.len()
    }

    /// Writes the lines of tasks that wait for nothing more.
    fn write_tasks(&mut self) {
        while let Some((pending, ended)) = self.waiting.next() {
            let place = self.write_task(&pending, &ended);
            self.waiting.written(&pending.itself, place);
        }
    }

    fn write_task(&mut self, pending: &Pending, ended: &Ended) -> SliceEnd {
        let seat = ended.worker.unwrap_or(self.seats.len() - 1);
        let place = self.seats[seat].place(ended);
        self.write_idle(seat, pending, ended, place);
        self.seats[seat].free_ns = place.end_ns;
        let after = pending.after.iter().map(|task| task.sequence).collect();
        self.file.push(&lines::task(&pending.task, after, ended, place));
        for before in &pending.after {
            let from = *before.place.get().expect("known");
            for line in lines::arrows(self.arrows, from, place) {
                self.file.push(&line);
            }
            self.arrows += 1;
        }
        self.tasks += 1;
        self.latest_ns = self.latest_ns.max(place.end_ns);
        if self.tasks.is_multiple_of(TOGETHER) {
            self.file.flush();
        }
        place
    }

    fn write_idle(&mut self, seat: usize, pending: &Pending, ended: &Ended, place: SliceEnd) {
        let Seat { free_ns, is_host, .. } = self.seats[seat];
        if is_host || place.begin_ns < free_ns + self.shortest_idle_ns {
            return;
        }
        let steps = Steps {
            submitted_ns: pending.task.at_ns,
            ready_ns: ended.ready_ns,
            taken_ns: ended.times.taken_ns,
            arrived_ns: ended.times.arrived_ns,
        };
        for (cause, begin_ns, end_ns) in causes(free_ns, place.begin_ns, steps) {
            self.push_idle(SliceEnd { begin_ns, end_ns, ..place }, cause, Some(ended.sequence));
        }
    }

    fn push_idle(&mut self, place: SliceEnd, cause: Cause, before: Option<u64>) {
        let name = match cause {
            Cause::Submission => "idle: submission",
            Cause::Dependency => "idle: dependency",
            Cause::Scheduler => "idle: scheduler",
            Cause::Transfer => "idle: transfer",
            Cause::End => "idle: end",
        };
        self.file.push(&lines::slice(name.to_owned(), place, What::Idle(Idle { cause, before })));
    }

    fn transfer(&mut self, transfer: Transfer, begin_ns: u64, end_ns: u64) {
        let Transfer { from, to, bytes, .. } = transfer;
        let (tid, is_first) = self.tracks.place(from, to, begin_ns, end_ns);
        let place = SliceEnd { pid: lines::node_pid(to), tid, begin_ns, end_ns };
        if is_first {
            let name = format!("{} to {}", self.nodes[from], self.nodes[to]);
            self.file.push(&lines::thread_name(place.pid, tid, name));
        }
        let array = transfer.array.number();
        let what = TransferLine { array, from: from as u32, to: to as u32, bytes: bytes as u64 };
        self.file.push(&lines::slice(format!("array {array}"), place, What::Transfer(what)));
        self.latest_ns = self.latest_ns.max(end_ns);
    }

    /// Writes the end of a run that ends now.
    pub(super) fn end(mut self, now_ns: u64) {
        self.flush();
        let end_ns = now_ns.max(self.latest_ns);
        for seat in 0..self.seats.len() - 1 {
            let Seat { pid, tid, free_ns, .. } = self.seats[seat];
            if free_ns + self.shortest_idle_ns <= end_ns {
                self.push_idle(SliceEnd { pid, tid, begin_ns: free_ns, end_ns }, Cause::End, None);
            }
        }
        let end = End { end_us: lines::microseconds(end_ns), tasks: self.tasks };
        self.file.end(&Line::Metadata(Metadata { pid: 1, tid: 0, fact: Fact::End(end) }));
    }
}

impl Seat {
    fn new(node: usize, index: usize) -> Self {
        Self { pid: lines::node_pid(node), tid: index as u32 + 1, free_ns: 0, is_host: false }
    }

    /// The position of a task's slice: from the call of its kernel to its end. That of a cancelled task has no length.
    fn place(&self, ended: &Ended) -> SliceEnd {
        let begin_ns = ended.times.begin_ns.unwrap_or(ended.ended_ns);
        let end_ns = ended.times.kernel_ns.map_or(ended.ended_ns, |kernel_ns| begin_ns + kernel_ns);
        SliceEnd { pid: self.pid, tid: self.tid, begin_ns, end_ns: end_ns.max(begin_ns) }
    }
}
