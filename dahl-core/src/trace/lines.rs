//! The lines of single things: how a task, a transfer, a worker are written.

use std::time::{SystemTime, UNIX_EPOCH};

use dahl_trace::format::{
    About, ArrayUse, Arrow, Fact, Line, Metadata, Named, Slice, Task, VERSION, What, Worker,
};

use super::chains::Place;
use super::event::{Combination, Ended, Failed, Submitted};
use crate::codelet::Codelet;
use crate::machine::CPU;

/// To the nanosecond.
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
pub(super) fn about(scheduler: &str, is_virtual: bool) -> Line {
    let program = std::env::args_os().next().map(std::path::PathBuf::from).unwrap_or_default();
    let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let scheduler = scheduler.to_owned();
    metadata(1, 0, Fact::Dahl(About { version: VERSION, program, host, started, is_virtual, scheduler }))
}

pub(super) fn node_name(node: usize, name: &str) -> Line {
    metadata(node_pid(node), 0, Fact::ProcessName(Named { name: name.to_owned() }))
}

pub(super) fn thread_name(pid: u32, tid: u32, name: String) -> Line {
    metadata(pid, tid, Fact::ThreadName(Named { name }))
}

/// A worker; the host, if it has no number.
pub(super) fn worker(pid: u32, tid: u32, worker: Option<usize>, kind: &str) -> Line {
    let worker = worker.map(|worker| worker as u32);
    metadata(pid, tid, Fact::Worker(Worker { worker, kind: kind.to_owned(), node: pid - 1 }))
}

/// The host, which helps the workers of the main memory.
pub(super) fn host(tid: u32) -> [Line; 2] {
    [thread_name(1, tid, "the host".to_owned()), worker(1, tid, None, CPU)]
}

/// Both ends of the arrow from a task to one that depends on it.
pub(super) fn arrows(id: u64, from: Place, to: Place) -> [Line; 2] {
    let arrow = |place: Place, at_ns: u64, bp: Option<&str>| Arrow {
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

/// A task that has ended. `numbers` are those of its arrays.
pub(super) fn task(task: &Submitted, numbers: &[u64], after: Vec<u64>, ended: &Ended, place: Place) -> Line {
    let run = &ended.run;
    let uses = task.uses.iter().zip(numbers).filter(|(access, _)| access.is_operand);
    let uses = uses.map(|(access, &array)| ArrayUse { array, mode: access.mode.name().to_owned() });
    let line = Task {
        task: task.sequence,
        codelet: format!("{}::{}", task.codelet.module, task.codelet.name),
        kernel: run.kernel.map(str::to_owned),
        elements: elements(task),
        footprint: task.footprint.to_lists(),
        arrays: uses.collect(),
        predicted_us: run.predicted_ns.map(microseconds),
        measured_us: microseconds(place.end_ns - place.begin_ns),
        submitted_us: microseconds(task.at_ns),
        ready_us: microseconds(ended.ready_ns),
        taken_us: microseconds(run.taken_ns),
        after,
        name: task.name.map(str::to_owned),
        at: format!("{}:{}", task.location.file(), task.location.line()),
        priority: task.priority,
        team: run.team,
        failure: ended.failure.as_ref().map(Failed::text),
    };
    slice(title(task.codelet, task.combination), place, What::Task(Box::new(line)))
}

fn title(codelet: &Codelet, combination: Option<Combination>) -> String {
    match combination {
        None => codelet.name.to_owned(),
        Some(Combination::Fold) => format!("{} (fold)", codelet.name),
        Some(Combination::Finish) => format!("{} (finish)", codelet.name),
    }
}

pub(super) fn slice(name: String, place: Place, what: What) -> Line {
    let Place { pid, tid, begin_ns, end_ns } = place;
    let dur = microseconds(end_ns.saturating_sub(begin_ns));
    Line::Slice(Slice { name, ts: microseconds(begin_ns), dur, pid, tid, what })
}

/// The element type of each operand: those of the declaration, without the output of a task that runs in place; of the
/// tasks of a reduction, what their arrays hold.
fn elements(task: &Submitted) -> Vec<String> {
    if task.combination.is_some() {
        return task.uses.iter().map(|access| access.element.to_owned()).collect();
    }
    let output = if task.in_place { task.codelet.output() } else { None };
    let parameters = task.codelet.parameters.iter().enumerate();
    let parameters = parameters.filter(|&(index, _)| Some(index) != output);
    parameters.map(|(_, parameter)| parameter.element.name.to_owned()).collect()
}

impl Failed {
    fn text(&self) -> String {
        match self {
            Self::Itself(failure) => failure.message.clone(),
            Self::Cancelled(first_cause) => format!("cancelled: {first_cause}"),
        }
    }
}
