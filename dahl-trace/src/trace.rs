//! The model of a run: what a trace file says, in order and by index.
//!
//! Made by [`Trace::read`](crate::Trace::read), which sees to it that indices are valid; used by everything else. Times are
//! in nanoseconds since the runtime was built, so that sums are exact.

use crate::format::{About, Cause};
use crate::graph::Graph;
use std::sync::Arc;

/// Text that many tasks share, as codelets' names are.
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
    pub(crate) graph: Graph,
}

impl Trace {
    /// What wrote the file.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Where the file ends before the run does, if so: the program crashed, or is still running.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// How long the run took; of a cut file, the time of the last thing in it.
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

    /// What transfers lie on: one for each pair of memory nodes.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The tasks, in the order of submission.
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// When workers were idle, and why, by time.
    pub fn idle(&self) -> &[Idle] {
        &self.idle
    }

    /// The transfers, by time.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// How much memory was in use, by time.
    pub fn memory(&self) -> &[MemorySample] {
        &self.memory
    }

    /// Which task waits for which.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
}

/// Where a file ends before the run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Cut {
    /// The last line that could be read.
    pub line: usize,
    /// Whether a piece of a line comes after it.
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
    /// Its number; nothing for the host.
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

/// What transfers from one memory node to another lie on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// The number of the memory node that elements come from.
    pub from: u32,
    /// The number of the memory node that they go to.
    pub to: u32,
    /// Its `tid` in the file.
    pub tid: u32,
}

/// A task that has run.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its number in the order of submission.
    pub number: u64,
    /// The codelet's name, as viewers show it.
    pub codelet: Text,
    /// The codelet's full name: module and name.
    pub path: Text,
    /// The kernel; nothing if none ran.
    pub kernel: Option<Text>,
    /// The element type of each data parameter.
    pub elements: Arc<[String]>,
    /// The extents of each.
    pub footprint: Arc<[Vec<usize>]>,
    /// What it uses.
    pub arrays: Box<[ArrayUse]>,
    /// How long the model expected it to take, if it knew.
    pub predicted_us: Option<f64>,
    /// How long the kernel took.
    pub measured_us: f64,
    /// When it was submitted.
    pub submitted_ns: u64,
    /// When all that it depends on had ended.
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
    /// Why it failed or was cancelled, if so.
    pub failure: Option<Text>,
}

impl Task {
    /// When the kernel ended.
    pub fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }

    /// The data parameters as people write them: `f32[512x512] f32[512]`.
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
}

/// A time in which a worker was idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The index of the worker.
    pub worker: usize,
    /// When it began.
    pub start_ns: u64,
    /// How long it took.
    pub duration_ns: u64,
    /// Why.
    pub cause: Cause,
    /// The number of the task that the worker ran next.
    pub before: Option<u64>,
}

/// Elements that were copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The index of the link in [`Trace::links`].
    pub link: usize,
    /// What viewers show.
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

/// How much memory was in use at a node, from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySample {
    /// When.
    pub at_ns: u64,
    /// The number of the memory node.
    pub node: u32,
    /// In bytes.
    pub bytes: u64,
}
