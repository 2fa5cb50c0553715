//! A machine that runs tasks as they are submitted, each where it would end first, and records what it did.

use super::{about, end, metadata, named};
use dahl_trace::format::{
    ArrayUse, Cause, Counter, Fact, Idle, Level, Line, Memory, Slice, TRANSFERS, Task, Transfer, What, Worker,
};
use std::collections::HashMap;

/// A tile of 512 x 512 numbers of 4 bytes.
const BYTES: u64 = 512 * 512 * 4;

/// The work of a task.
pub(crate) struct Work {
    pub(crate) codelet: &'static str,
    pub(crate) us: f64,
    /// The speedup of the device.
    pub(crate) speedup: f64,
    pub(crate) arrays: Vec<(u64, &'static str)>,
    pub(crate) priority: i32,
}

struct Processor {
    node: u32,
    free_ns: u64,
}

/// The last accesses of an array, and its valid replicas.
#[derive(Default)]
struct Array {
    writer: Option<u64>,
    readers: Vec<u64>,
    nodes: Vec<u32>,
}

pub(crate) struct Machine {
    processors: Vec<Processor>,
    arrays: HashMap<u64, Array>,
    ends: Vec<u64>,
    link_free_ns: [u64; 2],
    memory: [u64; 2],
    random: fastrand::Rng,
    lines: Vec<Line>,
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

impl Machine {
    pub(crate) fn new(cpus: u32, device: bool) -> Self {
        let mut lines =
            vec![about("cholesky", false), metadata(1, 0, Fact::ProcessName(named("memory 0: host")))];
        let mut processors = Vec::new();
        for number in 0..cpus + u32::from(device) {
            let (node, kind) = if number < cpus { (0, "cpu") } else { (1, "gpu") };
            if node == 1 {
                lines.push(metadata(2, 0, Fact::ProcessName(named("memory 1: gpu"))));
            }
            let name = if node == 0 { format!("cpu {number}") } else { "gpu 0".to_owned() };
            let worker = Worker { worker: Some(number), kind: kind.to_owned(), node };
            lines.push(metadata(node + 1, number + 1, Fact::ThreadName(named(&name))));
            lines.push(metadata(node + 1, number + 1, Fact::Worker(worker)));
            processors.push(Processor { node, free_ns: 0 });
        }
        for to in (0..2).filter(|_| device) {
            let name = format!("memory {} to memory {to}", 1 - to);
            lines.push(metadata(to + 1, TRANSFERS + to, Fact::ThreadName(named(&name))));
        }
        Self {
            processors,
            arrays: HashMap::new(),
            ends: Vec::new(),
            link_free_ns: [0; 2],
            memory: [0; 2],
            random: fastrand::Rng::with_seed(1),
            lines,
        }
    }

    pub(crate) fn submit(&mut self, work: Work) {
        let number = self.ends.len() as u64;
        let after = self.after(&work);
        let submitted = 20_000 + number * 800;
        let ready = after.iter().map(|&before| self.ends[before as usize]).max().unwrap_or(0).max(submitted);
        let place = self.place(&work, ready);
        let Processor { node, free_ns } = self.processors[place];
        let taken = ready.max(free_ns) + 150 + self.random.u64(..400);
        let start = self.fetch(&work, node, taken);
        let expected = expected_ns(&work, node);
        let duration = (expected as f64 * (0.95 + 0.15 * self.random.f64().powi(4))) as u64;
        self.idle(place, free_ns, [submitted, ready, taken, start], number);
        self.task(&work, place, number, [submitted, ready, taken, start, duration], after);
        self.processors[place].free_ns = start + duration;
        self.ends.push(start + duration);
        self.use_arrays(&work, node, number);
    }

    fn after(&self, work: &Work) -> Vec<u64> {
        let mut after = Vec::new();
        for (array, mode) in &work.arrays {
            let Some(array) = self.arrays.get(array) else { continue };
            match *mode {
                "R" => after.extend(array.writer),
                _ if array.readers.is_empty() => after.extend(array.writer),
                _ => after.extend(&array.readers),
            }
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    fn place(&self, work: &Work, ready: u64) -> usize {
        let end = |place: &usize| {
            let Processor { node, free_ns } = self.processors[*place];
            let missing = work.arrays.iter().filter(|(array, _)| !self.has(*array, node)).count() as u64;
            ready.max(free_ns) + missing * transfer_ns() + expected_ns(work, node)
        };
        (0..self.processors.len()).min_by_key(end).unwrap()
    }

    fn has(&self, array: u64, node: u32) -> bool {
        self.arrays.get(&array).map_or(node == 0, |array| array.nodes.contains(&node))
    }

    /// Copies the arrays that are not at `node`; returns when all of them are there.
    fn fetch(&mut self, work: &Work, node: u32, taken: u64) -> u64 {
        let mut arrived = taken;
        for &(array, _) in &work.arrays {
            if self.has(array, node) {
                continue;
            }
            let ts = taken.max(self.link_free_ns[node as usize]);
            let what = What::Transfer(Transfer { array, from: 1 - node, to: node, bytes: BYTES });
            let (name, tid) = (format!("array {array}"), TRANSFERS + node);
            let (ts_us, dur) = (us(ts), us(transfer_ns()));
            self.lines.push(Line::Slice(Slice { name, ts: ts_us, dur, pid: node + 1, tid, what }));
            arrived = ts + transfer_ns();
            self.link_free_ns[node as usize] = arrived;
            self.hold(array, node, ts);
        }
        arrived
    }

    fn hold(&mut self, array: u64, node: u32, at: u64) {
        let held = self.arrays.entry(array).or_default();
        let missing = [0, node]
            .into_iter()
            .filter(|at| !held.nodes.contains(at) && (*at == node || held.nodes.is_empty()));
        let mut missing: Vec<u32> = missing.collect();
        missing.dedup();
        held.nodes.extend(&missing);
        for node in missing {
            self.memory[node as usize] += BYTES;
            self.memory(node, at);
        }
    }

    fn memory(&mut self, node: u32, at: u64) {
        let args = Level::Memory(Memory { bytes: self.memory[node as usize] });
        self.lines.push(Line::Counter(Counter {
            name: "memory".to_owned(),
            ts: us(at),
            dur: None,
            pid: node + 1,
            args,
        }));
    }

    fn idle(&mut self, place: usize, from: u64, bounds: [u64; 4], number: u64) {
        let mut begin = from;
        for (cause, until) in Cause::ALL.into_iter().zip(bounds) {
            if until > begin {
                self.idle_slice(place, cause, begin, until, Some(number));
                begin = until;
            }
        }
    }

    fn idle_slice(&mut self, place: usize, cause: Cause, from: u64, until: u64, before: Option<u64>) {
        let (pid, tid) = (self.processors[place].node + 1, place as u32 + 1);
        let what = What::Idle(Idle { cause, before });
        let name = format!("idle: {}", cause.name());
        self.lines.push(Line::Slice(Slice { name, ts: us(from), dur: us(until - from), pid, tid, what }));
    }

    fn task(&mut self, work: &Work, place: usize, number: u64, times: [u64; 5], after: Vec<u64>) {
        let [submitted, ready, taken, start, duration] = times;
        let node = self.processors[place].node;
        let arrays = work.arrays.iter().map(|&(array, mode)| ArrayUse {
            array,
            mode: mode.to_owned(),
            bytes: Some(1 << 20),
        });
        let task = Task {
            task: number,
            codelet: format!("cholesky::{}", work.codelet),
            kernel: Some(if node == 0 { work.codelet.to_owned() } else { format!("{}_gpu", work.codelet) }),
            elements: vec!["f32".to_owned(); work.arrays.len()],
            footprint: vec![vec![512, 512]; work.arrays.len()],
            arrays: arrays.collect(),
            predicted_us: (number > 8).then(|| us(expected_ns(work, node))),
            measured_us: us(duration),
            submitted_us: us(submitted),
            ready_us: us(ready),
            taken_us: us(taken),
            after,
            at: "examples/cholesky.rs:42".to_owned(),
            priority: work.priority,
            ..Task::default()
        };
        let (ts, dur, pid, tid) = (us(start), us(duration), node + 1, place as u32 + 1);
        let what = What::Task(Box::new(task));
        self.lines.push(Line::Slice(Slice { name: work.codelet.to_owned(), ts, dur, pid, tid, what }));
    }

    fn use_arrays(&mut self, work: &Work, node: u32, number: u64) {
        for &(array, mode) in &work.arrays {
            self.hold(array, node, self.ends[number as usize]);
            let used = self.arrays.get_mut(&array).unwrap();
            if mode == "R" {
                used.readers.push(number);
            } else {
                used.writer = Some(number);
                used.readers.clear();
                let gone = used.nodes.iter().filter(|&&other| other != node).count() as u64;
                used.nodes = vec![node];
                if gone > 0 {
                    self.memory[1 - node as usize] -= BYTES;
                    self.memory(1 - node, self.ends[number as usize]);
                }
            }
        }
    }

    /// The lines, to the end of the run.
    pub(crate) fn lines(mut self) -> Vec<Line> {
        let last = self.ends.iter().copied().max().unwrap_or(0);
        for place in 0..self.processors.len() {
            let free = self.processors[place].free_ns;
            if free < last {
                self.idle_slice(place, Cause::End, free, last, None);
            }
        }
        let tasks = self.ends.len() as u64;
        self.lines.push(end(us(last), tasks));
        self.lines
    }
}

fn transfer_ns() -> u64 {
    10_000 + BYTES / 12
}

fn expected_ns(work: &Work, node: u32) -> u64 {
    (work.us * 1000.0 / if node == 1 { work.speedup } else { 1.0 }) as u64
}
