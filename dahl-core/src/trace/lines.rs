//! The lines of single things: a task, a transfer, a worker.

use std::time::{SystemTime, UNIX_EPOCH};

use dahl_trace::format::{
    About, ArrayUse, Arrow, Clock, Counter, Fact, Level, Line, Message, Metadata, Named, POWER, Power,
    RunEnergy, Slice, Task, VERSION, What, Worker,
};

use super::chains::SliceEnd;
use super::clock_probe::Comparison;
use super::event::{Ended, Failed, Submitted};
use crate::description::{MessageEnds, Step, TaskDesc};
use crate::machine::CPU;
use crate::perf::work;

/// Microseconds with nanosecond precision.
pub(super) fn microseconds(ns: u64) -> f64 {
    ns as f64 / 1e3
}

pub(super) fn node_pid(node: usize) -> u32 {
    node as u32 + 1
}

fn metadata(pid: u32, tid: u32, fact: Fact) -> Line {
    Line::Metadata(Metadata { pid, tid, fact })
}

/// The first line.
pub(super) fn about(scheduler: &str, is_virtual: bool, rank: Option<(usize, usize)>) -> Line {
    let program = std::env::args_os().next().map(std::path::PathBuf::from).unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let about = About {
        version: VERSION,
        program,
        host,
        started,
        is_virtual,
        scheduler: scheduler.to_owned(),
        rank: rank.map(|(rank, _)| rank as u32),
        ranks: rank.map(|(_, ranks)| ranks as u32),
    };
    metadata(1, 0, Fact::Dahl(about))
}

pub(super) fn node_name(node: usize, name: &str) -> Line {
    metadata(node_pid(node), 0, Fact::ProcessName(Named { name: name.to_owned() }))
}

pub(super) fn thread_name(pid: u32, tid: u32, name: String) -> Line {
    metadata(pid, tid, Fact::ThreadName(Named { name }))
}

/// A worker; the host if it has no number.
pub(super) fn worker(pid: u32, tid: u32, worker: Option<usize>, kind: &str) -> Line {
    let worker = worker.map(|worker| worker as u32);
    metadata(pid, tid, Fact::Worker(Worker { worker, kind: kind.to_owned(), node: pid - 1 }))
}

/// The host, which helps the workers of the main memory.
pub(super) fn host(tid: u32) -> [Line; 2] {
    [thread_name(1, tid, "the host".to_owned()), worker(1, tid, None, CPU)]
}

/// Both ends of the arrow from a task to one that depends on it.
pub(super) fn arrows(id: u64, from: SliceEnd, to: SliceEnd) -> [Line; 2] {
    let arrow = |place: SliceEnd, at_ns: u64, bp: Option<&str>| Arrow {
        id,
        name: "dependency".to_owned(),
        cat: "dependency".to_owned(),
        ts: microseconds(at_ns),
        pid: place.pid,
        tid: place.tid,
        bp: bp.map(str::to_owned),
    };
    // Within the slice: at its end the next one may have begun.
    let leaves_ns = from.begin_ns.max(from.end_ns.saturating_sub(1));
    [Line::ArrowFrom(arrow(from, leaves_ns, None)), Line::ArrowTo(arrow(to, to.begin_ns, Some("e")))]
}

/// A task that has ended.
pub(super) fn task(task: &Submitted, after: Vec<u64>, ended: &Ended, place: SliceEnd) -> Line {
    let (times, desc) = (&ended.times, &task.desc);
    let uses = desc.operand_accesses().zip(&task.known_as).enumerate();
    let uses = uses.filter_map(|(position, (access, known_as))| {
        let bytes = Some(desc.bytes_of(position) as u64);
        Some(ArrayUse { array: (*known_as)?.number(), mode: access.mode.name().to_owned(), bytes })
    });
    let (flops, moved) = work(desc);
    // The call of a program moves nothing itself: its size is that of its arrays.
    let bytes = task.bytes.filter(|_| desc.operand_count() == 0).map_or(moved, |bytes| bytes as f64);
    let line = Task {
        task: desc.sequence(),
        codelet: format!("{}::{}", desc.codelet().module, desc.codelet().name),
        kernel: times.kernel.map(str::to_owned),
        elements: elements(desc),
        footprint: desc.extents().map(<[usize]>::to_vec).collect(),
        flops,
        bytes: Some(bytes),
        arrays: uses.collect(),
        predicted_us: times.predicted_ns.map(microseconds),
        measured_us: microseconds(place.end_ns - place.begin_ns),
        submitted_us: microseconds(task.at_ns),
        host_us: task.host_ns.map(microseconds),
        ready_us: microseconds(ended.ready_ns),
        taken_us: microseconds(times.taken_ns),
        after,
        name: desc.name().map(str::to_owned),
        at: format!("{}:{}", desc.location().file(), desc.location().line()),
        priority: desc.priority(),
        team: times.team,
        message: MessageEnds::of(desc).map(message),
        failure: ended.failure.as_ref().map(Failed::text),
    };
    slice(title(desc), place, What::Task(Box::new(line)))
}

fn message(ends: MessageEnds) -> Message {
    let MessageEnds { from, to, array, version } = ends;
    Message { from: from as u32, to: to as u32, array, version }
}

fn title(desc: &TaskDesc) -> String {
    let name = desc.codelet().name;
    match desc.combination().map(|combination| combination.step) {
        None => name.to_owned(),
        Some(Step::Fold) => format!("{name} (fold)"),
        Some(Step::Finish(_)) => format!("{name} (finish)"),
    }
}

/// The mean power of a domain from one time to another.
pub(super) fn power(domain: &str, node: usize, (from_ns, to_ns): (u64, u64), watts: f64) -> Line {
    Line::Counter(Counter {
        name: format!("{POWER}{domain}"),
        ts: microseconds(from_ns),
        dur: Some(microseconds(to_ns - from_ns)),
        pid: node_pid(node),
        args: Level::Power(Power { watts }),
    })
}

/// A comparison with the clock of rank 0.
pub(super) fn compared(comparison: Comparison) -> Line {
    let Comparison { at_ns, ahead_ns, round_trip_ns } = comparison;
    let clock = Clock {
        at_us: microseconds(at_ns),
        ahead_us: ahead_ns as f64 / 1e3,
        round_trip_us: microseconds(round_trip_ns),
    };
    metadata(1, 0, Fact::Clock(clock))
}

/// The energy of the run.
pub(super) fn energy(energy: RunEnergy) -> Line {
    metadata(1, 0, Fact::Energy(energy))
}

pub(super) fn slice(name: String, place: SliceEnd, what: What) -> Line {
    let SliceEnd { pid, tid, begin_ns, end_ns } = place;
    let dur = microseconds(end_ns.saturating_sub(begin_ns));
    Line::Slice(Slice { name, ts: microseconds(begin_ns), dur, pid, tid, what })
}

/// The element type of each operand: those of the declaration, without the output of a task that runs in place; for
/// tasks of a reduction, those of their arrays.
fn elements(desc: &TaskDesc) -> Vec<String> {
    let elements: Vec<_> = match desc.combination() {
        Some(combination) => (0..desc.operand_count()).map(|index| combination.element_of(index)).collect(),
        None => desc.operands().map(|operand| operand.parameter.element).collect(),
    };
    elements.iter().map(|element| element.name.to_owned()).collect()
}

impl Failed {
    fn text(&self) -> String {
        match self {
            Self::Itself(failure) => failure.message.clone(),
            Self::Cancelled(first_cause) => format!("cancelled: {first_cause}"),
        }
    }
}
