//! The Paje format, with the containers, states, links and variables that StarPU writes.
//!
//! Times are in milliseconds, as StarPU's. Beyond StarPU's types: the state `Idle Cause` of a worker, and the variable
//! `Used Memory` of a memory manager.

mod definitions;

use crate::Trace;
use crate::format::Cause;
use crate::palette::Codelets;
use crate::trace::{Idle, Task, Transfer};
use std::io::{self, BufWriter, Write};

pub(super) fn write(trace: &Trace, out: impl Write) -> io::Result<()> {
    let codelets = Codelets::of(trace);
    let mut out = BufWriter::new(out);
    definitions::write(&codelets, &mut out)?;
    create(trace, &mut out)?;
    let mut events = events(trace);
    events.sort_by_key(|&(at, _)| at);
    let mut counts = Counts::default();
    for (at, event) in events {
        write_event(trace, &codelets, &mut counts, ms(at), event, &mut out)?;
    }
    destroy(trace, &mut out)?;
    out.flush()
}

/// An event at a time.
#[derive(Clone, Copy)]
enum Event<'a> {
    Task(usize),
    Idle(&'a Idle),
    /// A worker enters a state that the trace does not name.
    Overhead(usize),
    Submitted(i64),
    Ready(i64),
    TransferBegins(usize, &'a Transfer),
    TransferEnds(usize, &'a Transfer),
    Memory(u32, u64),
}

/// The number of tasks in flight, and of ready ones.
#[derive(Default)]
struct Counts {
    submitted: i64,
    ready: i64,
}

fn ms(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

/// Text for Paje: without quotes and line breaks.
fn quoted(text: &str) -> String {
    let plain = text.chars().map(|letter| match letter {
        '"' => '\'',
        letter if letter.is_control() => ' ',
        letter => letter,
    });
    format!("\"{}\"", plain.collect::<String>())
}

fn create(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "7 0.000000 root MPIP 0 \"root\"")?;
    writeln!(out, "7 0.000000 p P root {}", quoted(&trace.about().program))?;
    writeln!(out, "7 0.000000 sched Sc p \"scheduler\"")?;
    for node in trace.nodes() {
        writeln!(out, "7 0.000000 mn{} Mn p {}", node.number, quoted(&node.name))?;
        writeln!(out, "7 0.000000 mm{0} Mm mn{0} \"MEMMANAGER{0}\"", node.number)?;
    }
    for (index, worker) in trace.workers().iter().enumerate() {
        writeln!(out, "7 0.000000 t{index} T mn{} {}", worker.node, quoted(&format!("T{}", worker.tid)))?;
        writeln!(out, "7 0.000000 w{index} W t{index} {}", quoted(&worker.name))?;
    }
    Ok(())
}

fn destroy(trace: &Trace, out: &mut impl Write) -> io::Result<()> {
    let end = ms(trace.duration_ns());
    for index in 0..trace.workers().len() {
        writeln!(out, "8 {end} w{index} W\n8 {end} t{index} T")?;
    }
    for node in trace.nodes() {
        writeln!(out, "8 {end} mm{0} Mm\n8 {end} mn{0} Mn", node.number)?;
    }
    writeln!(out, "8 {end} sched Sc\n8 {end} p P\n8 {end} root MPIP")
}

fn events(trace: &Trace) -> Vec<(u64, Event<'_>)> {
    let mut events = Vec::new();
    for (index, task) in trace.tasks().iter().enumerate() {
        events.push((task.submitted_ns, Event::Submitted(1)));
        events.push((task.ready_ns, Event::Ready(1)));
        events.push((task.start_ns, Event::Ready(-1)));
        events.push((task.start_ns, Event::Task(index)));
        events.push((task.end_ns(), Event::Submitted(-1)));
    }
    events.extend(trace.idle().iter().map(|idle| (idle.start_ns, Event::Idle(idle))));
    events.extend(unsaid(trace));
    for (index, transfer) in trace.transfers().iter().enumerate() {
        events.push((transfer.start_ns, Event::TransferBegins(index, transfer)));
        events.push((transfer.start_ns + transfer.duration_ns, Event::TransferEnds(index, transfer)));
    }
    let memory = trace.memory().iter();
    events.extend(memory.map(|sample| (sample.at_ns, Event::Memory(sample.node, sample.bytes))));
    events
}

/// The intervals for which the trace has neither a task nor a cause of idle time.
fn unsaid(trace: &Trace) -> Vec<(u64, Event<'_>)> {
    let mut spans = vec![Vec::new(); trace.workers().len()];
    for task in trace.tasks() {
        spans[task.worker].push((task.start_ns, task.end_ns()));
    }
    for idle in trace.idle() {
        spans[idle.worker].push((idle.start_ns, idle.start_ns + idle.duration_ns));
    }
    let mut events = Vec::new();
    for (worker, mut spans) in spans.into_iter().enumerate() {
        spans.sort_unstable();
        let mut said = 0;
        for (begin, end) in spans {
            if begin > said {
                events.push((said, Event::Overhead(worker)));
            }
            said = said.max(end);
        }
        if said < trace.duration_ns() {
            events.push((said, Event::Overhead(worker)));
        }
    }
    events
}

fn write_event(
    trace: &Trace,
    codelets: &Codelets,
    counts: &mut Counts,
    at: String,
    event: Event,
    out: &mut impl Write,
) -> io::Result<()> {
    match event {
        Event::Task(index) => {
            let task = &trace.tasks()[index];
            writeln!(out, "10 {at} w{} IC no", task.worker)?;
            let codelet = codelets.of[index];
            writeln!(out, "20 {at} w{} WS c{codelet} {}", task.worker, details(task))
        }
        Event::Idle(idle) => {
            writeln!(out, "10 {at} w{} WS {}", idle.worker, starpu_state(idle.cause))?;
            writeln!(out, "10 {at} w{} IC {}", idle.worker, idle.cause.name())
        }
        Event::Overhead(worker) => writeln!(out, "10 {at} w{worker} WS B\n10 {at} w{worker} IC no"),
        Event::Submitted(change) => {
            counts.submitted += change;
            writeln!(out, "13 {at} sched nsubmitted {}", counts.submitted)
        }
        Event::Ready(change) => {
            counts.ready += change;
            writeln!(out, "13 {at} sched nready {}", counts.ready)
        }
        Event::TransferBegins(key, transfer) => {
            let from = trace.links()[transfer.link].from;
            writeln!(out, "18 {at} L p {} mm{from} {key}", transfer.bytes)
        }
        Event::TransferEnds(key, transfer) => {
            let to = trace.links()[transfer.link].to;
            writeln!(out, "19 {at} L p {} mm{to} {key}", transfer.bytes)
        }
        Event::Memory(node, bytes) => writeln!(out, "13 {at} mm{node} mem {bytes}"),
    }
}

/// The alias of the state of a worker of StarPU.
fn starpu_state(cause: Cause) -> &'static str {
    match cause {
        Cause::Scheduler => "Sc",
        Cause::Transfer => "Fi",
        Cause::Submission | Cause::Dependency | Cause::End => "Sl",
    }
}

/// Size, Params, Footprint, Tag, JobId and SubmitOrder, as StarPU's; `NA` for unknown ones, as in R.
fn details(task: &Task) -> String {
    let parameters = task.parameters();
    let footprint = crc32fast::hash(parameters.as_bytes());
    let size = size(task).map_or("NA".to_owned(), |size| size.to_string());
    let (params, tag) = (quoted(&parameters), quoted(task.name.as_deref().unwrap_or("NA")));
    format!("{size} {params} {footprint:08x} {tag} {0} {0}", task.number)
}

/// The bytes of a task's arrays; none if it has elements of a type of the user's, or if the number overflows.
fn size(task: &Task) -> Option<usize> {
    let bytes = |element: &str| match element {
        "u8" | "i8" | "bool" => Some(1),
        "f16" | "bf16" | "u16" | "i16" => Some(2),
        "f32" | "u32" | "i32" => Some(4),
        "f64" | "u64" | "i64" => Some(8),
        _ => None,
    };
    let mut arrays = task.elements.iter().zip(&*task.footprint);
    arrays.try_fold(0_usize, |sum, (element, extents)| {
        let size =
            extents.iter().try_fold(bytes(element)?, |size: usize, extent| size.checked_mul(*extent))?;
        sum.checked_add(size)
    })
}
