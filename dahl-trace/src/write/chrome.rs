//! The file's own format, sorted and complete.

use crate::Trace;
use crate::format::{
    self, Arrow, Counter, End, Fact, Level, Line, Memory, Metadata, Named, POWER, Power, Slice, What,
};
use crate::trace::{Idle, Task, Transfer, Worker};
use std::io::{self, BufWriter, Write};

pub(super) fn write(trace: &Trace, out: impl Write) -> io::Result<()> {
    let mut lines = Lines { out: BufWriter::new(out), first: true };
    metadata(trace).try_for_each(|line| lines.write(&line))?;
    for (index, task) in trace.tasks().iter().enumerate() {
        lines.write(&Line::Slice(task_slice(trace, task)))?;
        arrows(trace, index).try_for_each(|line| lines.write(&line))?;
    }
    trace.idle().iter().try_for_each(|idle| lines.write(&Line::Slice(idle_slice(trace, idle))))?;
    trace
        .transfers()
        .iter()
        .try_for_each(|transfer| lines.write(&Line::Slice(transfer_slice(trace, transfer))))?;
    for sample in trace.memory() {
        lines.write(&Line::Counter(Counter {
            name: "memory".to_owned(),
            ts: us(sample.at_ns),
            dur: None,
            pid: sample.node + 1,
            args: Level::Memory(Memory { bytes: sample.bytes }),
        }))?;
    }
    for sample in trace.power() {
        lines.write(&Line::Counter(Counter {
            name: format!("{POWER}{}", sample.domain),
            ts: us(sample.at_ns),
            dur: Some(us(sample.duration_ns)),
            pid: sample.node + 1,
            args: Level::Power(Power { watts: sample.watts }),
        }))?;
    }
    for sample in trace.clock() {
        let fact = Fact::Clock(format::Clock {
            at_us: us(sample.at_ns),
            ahead_us: sample.ahead_ns as f64 / 1000.0,
            round_trip_us: us(sample.round_trip_ns),
        });
        lines.write(&Line::Metadata(Metadata { pid: 1, tid: 0, fact }))?;
    }
    if let Some(energy) = trace.energy() {
        let fact = Fact::Energy(energy.clone());
        lines.write(&Line::Metadata(Metadata { pid: 1, tid: 0, fact }))?;
    }
    if trace.cut().is_none() {
        let end = End { end_us: us(trace.duration_ns()), tasks: trace.tasks().len() as u64 };
        lines.write(&Line::Metadata(Metadata { pid: 1, tid: 0, fact: Fact::End(end) }))?;
    }
    lines.finish()
}

/// The lines of a file, with brackets.
struct Lines<W: Write> {
    out: BufWriter<W>,
    first: bool,
}

impl<W: Write> Lines<W> {
    fn write(&mut self, line: &Line) -> io::Result<()> {
        self.out.write_all(if self.first { b"[\n" } else { b",\n" })?;
        self.first = false;
        Ok(serde_json::to_writer(&mut self.out, line)?)
    }

    fn finish(mut self) -> io::Result<()> {
        self.out.write_all(b"\n]\n")?;
        self.out.flush()
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

fn metadata(trace: &Trace) -> impl Iterator<Item = Line> {
    let fact = |pid, tid, fact| Line::Metadata(Metadata { pid, tid, fact });
    let named = |name: &str| Named { name: name.to_owned() };
    let about = fact(1, 0, Fact::Dahl(trace.about().clone()));
    let nodes = trace.nodes().iter();
    let nodes = nodes.map(move |node| fact(node.number + 1, 0, Fact::ProcessName(named(&node.name))));
    let workers = trace.workers().iter().flat_map(move |worker| {
        let Worker { number, kind, node, tid, name } = worker;
        let what = format::Worker { worker: *number, kind: kind.clone(), node: *node };
        [fact(node + 1, *tid, Fact::ThreadName(named(name))), fact(node + 1, *tid, Fact::Worker(what))]
    });
    let links = trace.links().iter();
    let links = links.map(move |link| fact(link.to + 1, link.tid, Fact::ThreadName(named(&link.name))));
    std::iter::once(about).chain(nodes).chain(workers).chain(links)
}

fn task_slice(trace: &Trace, task: &Task) -> Slice {
    let worker = &trace.workers()[task.worker];
    let arrays = task.arrays.iter();
    Slice {
        name: task.codelet.to_string(),
        ts: us(task.start_ns),
        dur: us(task.duration_ns),
        pid: worker.node + 1,
        tid: worker.tid,
        what: What::Task(Box::new(format::Task {
            task: task.number,
            codelet: task.path.to_string(),
            kernel: task.kernel.as_deref().map(str::to_owned),
            elements: task.elements.to_vec(),
            footprint: task.footprint.to_vec(),
            flops: task.flops,
            bytes: task.bytes,
            arrays: arrays
                .map(|used| format::ArrayUse {
                    array: used.array,
                    mode: used.mode.to_string(),
                    bytes: used.bytes,
                })
                .collect(),
            predicted_us: task.predicted_us,
            measured_us: task.measured_us,
            submitted_us: us(task.submitted_ns),
            host_us: task.host_us,
            ready_us: us(task.ready_ns),
            taken_us: us(task.taken_ns),
            after: task.after.to_vec(),
            name: task.name.as_deref().map(str::to_owned),
            at: task.at.to_string(),
            priority: task.priority,
            team: task.team,
            message: task.message,
            failure: task.failure.as_deref().map(str::to_owned),
        })),
    }
}

/// Both ends of an arrow from each task that the one at `index` depends on.
fn arrows(trace: &Trace, index: usize) -> impl Iterator<Item = Line> {
    let task = &trace.tasks()[index];
    let first = trace.graph().edges_before(index) as u64 + 1;
    let predecessors = trace.graph().predecessors(index).iter().zip(first..);
    predecessors.flat_map(move |(&before, id)| {
        let before = &trace.tasks()[before as usize];
        let is_message = task.message.is_some() && task.message == before.message;
        let name = if is_message { "message" } else { "dependency" };
        // One nanosecond before its end, since the worker's next slice may begin at the end.
        let tail = before.end_ns().saturating_sub(1).max(before.start_ns);
        [
            Line::ArrowFrom(arrow(trace, (id, name), before, tail, None)),
            Line::ArrowTo(arrow(trace, (id, name), task, task.start_ns, Some("e".to_owned()))),
        ]
    })
}

fn arrow(trace: &Trace, (id, name): (u64, &str), task: &Task, at_ns: u64, bp: Option<String>) -> Arrow {
    let worker = &trace.workers()[task.worker];
    let (name, cat) = (name.to_owned(), name.to_owned());
    Arrow { id, name, cat, ts: us(at_ns), pid: worker.node + 1, tid: worker.tid, bp }
}

fn idle_slice(trace: &Trace, idle: &Idle) -> Slice {
    let worker = &trace.workers()[idle.worker];
    Slice {
        name: format!("idle: {}", idle.cause.name()),
        ts: us(idle.start_ns),
        dur: us(idle.duration_ns),
        pid: worker.node + 1,
        tid: worker.tid,
        what: What::Idle(format::Idle { cause: idle.cause, before: idle.before }),
    }
}

fn transfer_slice(trace: &Trace, transfer: &Transfer) -> Slice {
    let link = &trace.links()[transfer.link];
    let Transfer { array, bytes, .. } = *transfer;
    Slice {
        name: transfer.name.to_string(),
        ts: us(transfer.start_ns),
        dur: us(transfer.duration_ns),
        pid: link.to + 1,
        tid: link.tid,
        what: What::Transfer(format::Transfer { array, from: link.from, to: link.to, bytes }),
    }
}
