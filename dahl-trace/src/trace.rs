//! The model of a run: the data of a trace file, in order and by index.
//!
//! [`Trace::read`](crate::Trace::read) makes it and checks that all indices are valid; everything else uses it. Times
//! are in nanoseconds since the runtime was built, so that sums are exact.

pub use crate::format::Message;
use crate::format::{About, Cause, RunEnergy};
use crate::graph::Graph;
use std::sync::Arc;

/// Text that many tasks share, such as codelets' names.
pub type Text = Arc<str>;

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub(crate) about: About,
    pub(crate) cut: Option<Cut>,
    pub(crate) duration_ns: u64,
    pub(crate) nodes: Vec<Node>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) links: Vec<Link>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) idle: Vec<Idle>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) memory: Vec<MemorySample>,
    pub(crate) power: Vec<PowerSample>,
    pub(crate) energy: Option<RunEnergy>,
    pub(crate) clock: Vec<ClockSample>,
    pub(crate) graph: Graph,
}

impl Trace {
    /// The program and the runtime that wrote the file.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Where an incomplete file ends: the program crashed, or is still running.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// The duration of the run; for an incomplete file, the time of its last event.
    pub fn duration_ns(&self) -> u64 {
        self.duration_ns
    }

    /// The memory nodes, by number.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The name of the memory node of this number.
    pub(crate) fn node_name(&self, number: u32) -> &str {
        self.nodes.iter().find(|node| node.number == number).map_or("?", |node| &node.name)
    }

    /// The workers, by memory node and number; the host, if it helped, is the last.
    pub fn workers(&self) -> &[Worker] {
        &self.workers
    }

    /// The links that transfers use: one for each pair of memory nodes.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The tasks, in the order of submission.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Idle times of workers and their causes, by time.
    pub fn idle(&self) -> &[Idle] {
        &self.idle
    }

    /// The transfers, by time.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Memory use, by time.
    pub fn memory(&self) -> &[MemorySample] {
        &self.memory
    }

    /// The power of each domain, by time.
    pub fn power(&self) -> &[PowerSample] {
        &self.power
    }

    /// The energy of the run; none if the file is incomplete, or older than that.
    pub fn energy(&self) -> Option<&RunEnergy> {
        self.energy.as_ref()
    }

    /// Comparisons of the clock of a rank with that of rank 0, by time.
    pub fn clock(&self) -> &[ClockSample] {
        &self.clock
    }

    /// The dependencies between tasks.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
}

/// Where an incomplete file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Cut {
    /// The last line that could be read.
    pub line: usize,
    /// Whether an incomplete line follows it.
    pub in_the_middle: bool,
}

/// A memory node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its number.
    pub number: u32,
    /// Its name.
    pub name: String,
}

/// A worker, or the host, which helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worker {
    /// Its number; none for the host.
    pub number: Option<u32>,
    /// Its name.
    pub name: String,
    /// Its kind: `cpu`, or the name of a device.
    pub kind: String,
    /// The number of the memory node that it works in.
    pub node: u32,
    /// Its `tid` in the file.
    pub tid: u32,
}

/// The link from one memory node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The number of the source.
    pub from: u32,
    /// The number of the destination.
    pub to: u32,
    /// Its `tid` in the file.
    pub tid: u32,
}

/// A completed task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its number in the order of submission.
    pub number: u64,
    /// The codelet's name, as viewers show it.
    pub codelet: Text,
    /// The codelet's full name: module and name.
    pub path: Text,
    /// The kernel; none if no kernel ran.
    pub kernel: Option<Text>,
    /// The element type of each data parameter.
    pub elements: Arc<[String]>,
    /// The extents of each.
    pub footprint: Arc<[Vec<usize>]>,
    /// The floating-point operations that its declaration says.
    pub flops: Option<f64>,
    /// The bytes that it moves; none in files of older versions.
    pub bytes: Option<f64>,
    /// The arrays that it uses.
    pub arrays: Box<[ArrayUse]>,
    /// The predicted duration, if the model had one.
    pub predicted_us: Option<f64>,
    /// The duration of the kernel.
    pub measured_us: f64,
    /// When it was submitted.
    pub submitted_ns: u64,
    /// What the submitting thread did by itself since its submission before, if that is known.
    pub host_us: Option<f64>,
    /// When all its dependencies had ended.
    pub ready_ns: u64,
    /// When the worker took it.
    pub taken_ns: u64,
    /// When the kernel was called.
    pub start_ns: u64,
    /// From the call of the kernel to its end.
    pub duration_ns: u64,
    /// The index of its worker in [`Trace::workers`].
    pub worker: usize,
    /// The numbers of the tasks that it directly depends on.
    pub after: Box<[u64]>,
    /// The name that the submitter gave.
    pub name: Option<Text>,
    /// The line that submitted it.
    pub at: Text,
    /// Its priority.
    pub priority: i32,
    /// Whether idle workers helped.
    pub team: bool,
    /// What it sends or receives, if it is one end of a message between ranks.
    pub message: Option<Message>,
    /// The reason if it failed or was cancelled.
    pub failure: Option<Text>,
}

impl Task {
    /// When the kernel ended.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }

    /// The data parameters for display: `f32[512x512] f32[512]`.
    pub(crate) fn parameters(&self) -> String {
        let parameter = |(element, extents): (&String, &Vec<usize>)| {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            format!("{element}[{}]", extents.join("x"))
        };
        self.elements.iter().zip(&*self.footprint).map(parameter).collect::<Vec<_>>().join(" ")
    }
}

/// An array that a task uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayUse {
    /// The array's number.
    pub array: u64,
    /// The access mode.
    pub mode: Text,
    /// Its size; none in files of older versions.
    pub bytes: Option<u64>,
}

/// An interval in which a worker was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The index of the worker.
    pub worker: usize,
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// The cause.
    pub cause: Cause,
    /// The number of the task that the worker ran next.
    pub before: Option<u64>,
}

/// A transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The index of the link in [`Trace::links`].
    pub link: usize,
    /// Its name in viewers.
    pub name: Text,
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// The array's number.
    pub array: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Memory use at a node from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySample {
    /// When.
    pub at_ns: u64,
    /// The number of the memory node.
    pub node: u32,
    /// In bytes.
    pub bytes: u64,
}

/// The mean power of a domain between two readings of its counter.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSample {
    /// The time of the first reading.
    pub at_ns: u64,
    /// The time between them.
    pub duration_ns: u64,
    /// The number of the memory node that the domain belongs to.
    pub node: u32,
    /// The domain's name.
    pub domain: Text,
    /// In watts.
    pub watts: f64,
}

/// A comparison of the clock of a rank with that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSample {
    /// When, by the clock of the rank.
    pub at_ns: u64,
    /// By how much the clock of rank 0 is ahead.
    pub ahead_ns: i64,
    /// How long question and answer were under way.
    pub round_trip_ns: u64,
}
