//! The lines of a trace file: Chrome's trace events, one a line.
//!
//! The file is a JSON array whose closing bracket may be missing, as Chrome's format allows: it is written while the
//! program runs, so one that is cut short by a crash opens as well. Brackets have lines of their own; every other line
//! but the last ends with a comma. The first one says what wrote the file ([`About`]), the last one, if the run came to
//! its end, when that was ([`End`]). Between them, lines are in no order of time.
//!
//! A worker is a thread (`tid`) of its memory node (`pid`). Transfers lie on threads of their own: one for each pair of
//! memory nodes. Both numbers begin at 1, since viewers take number 0 for the idle process.

use serde::{Deserialize, Serialize};

/// The version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;
/// The first `tid` of transfers; smaller ones are workers'.
pub const TRANSFERS: u32 = 10_000;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ph")]
pub enum Line {
    /// Says something of the run, a memory node or a worker.
    #[serde(rename = "M")]
    Metadata(Metadata),
    /// Something that took time.
    #[serde(rename = "X")]
    Slice(Slice),
    /// The tail of an arrow.
    #[serde(rename = "s")]
    ArrowFrom(Arrow),
    /// Its head.
    #[serde(rename = "f")]
    ArrowTo(Arrow),
    /// A value that changes over time.
    #[serde(rename = "C")]
    Counter(Counter),
}

/// What a line of metadata says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The memory node's number plus one.
    pub pid: u32,
    /// The worker's number plus one, or 0.
    #[serde(default)]
    pub tid: u32,
    /// What it is about.
    #[serde(flatten)]
    pub fact: Fact,
}

/// A fact of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", content = "args", rename_all = "snake_case")]
pub enum Fact {
    /// The first line of the file.
    Dahl(About),
    /// The name of a memory node, as viewers know it.
    ProcessName(Named),
    /// The name of a worker, of the host or of a link, as viewers know it.
    ThreadName(Named),
    /// What else is known of a worker.
    Worker(Worker),
    /// The last line of a run that came to its end.
    End(End),
}

/// What wrote the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The [`VERSION`] of the format.
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The name of the machine.
    pub host: String,
    /// When the runtime was built, in seconds since 1970.
    pub started: u64,
    /// Whether time is that of a simulation.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The scheduler's name.
    pub scheduler: String,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// It.
    pub name: String,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its number; nothing for the host, which helps.
    pub worker: Option<u32>,
    /// Its kind: `cpu`, or the name of a device.
    pub kind: String,
    /// The memory node that its kernels work in.
    pub node: u32,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// When, in microseconds.
    pub end_us: f64,
    /// Tasks that have run.
    pub tasks: u64,
}

/// Something that took time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// What viewers show: the codelet's name, `idle: dependency`, or the array that was copied.
    pub name: String,
    /// When it began, in microseconds since the runtime was built, to the nanosecond.
    pub ts: f64,
    /// How long it took, in microseconds.
    pub dur: f64,
    /// The memory node's number plus one; of a transfer, where the elements came to.
    pub pid: u32,
    /// The worker's number plus one, one more than all workers for the host, or a transfer's.
    pub tid: u32,
    /// What it was.
    #[serde(flatten)]
    pub what: What,
}

/// What took time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cat", content = "args", rename_all = "snake_case")]
pub enum What {
    /// A task's kernel.
    Task(Box<Task>),
    /// Nothing, and why.
    Idle(Idle),
    /// Elements were copied.
    Transfer(Transfer),
}

/// A task that has run. Times are in microseconds since the runtime was built; the slice is from the call of the kernel to
/// its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its number in the order of submission.
    pub task: u64,
    /// The codelet's full name: module and name; of a task that the runtime adds to a reduction, that of a contribution.
    pub codelet: String,
    /// The kernel that ran: `fold` or `finish` of a task that the runtime adds to a reduction. Nothing if the task was
    /// cancelled, or failed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The element type of each data parameter.
    pub elements: Vec<String>,
    /// The extents of each.
    pub footprint: Vec<Vec<usize>>,
    /// What it uses, in the order of the declaration.
    pub arrays: Vec<ArrayUse>,
    /// How long the model expected it to take when it was taken, if it knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_us: Option<f64>,
    /// How long the kernel took, which is how long the slice is.
    pub measured_us: f64,
    /// When it was submitted.
    pub submitted_us: f64,
    /// When all that it depends on had ended; of a task that commutes, when it was its turn as well.
    pub ready_us: f64,
    /// When the worker took it.
    pub taken_us: f64,
    /// The tasks that it directly depends on, those of its arrays' chains, in order. A partition is no task: what is done
    /// with a part depends on what was done with the whole, and the other way round. Tasks that commute do not depend on
    /// each other.
    pub after: Vec<u64>,
    /// The name that the submitter gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The line that submitted it.
    pub at: String,
    /// Its priority.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i32,
    /// Whether idle workers helped.
    #[serde(default, skip_serializing_if = "is_false")]
    pub team: bool,
    /// Why it failed or was cancelled, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// An array that a task uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayUse {
    /// The number of the array or part, never given twice in a run. A contribution to a reduction uses the array that it
    /// is to, and so do its folds.
    pub array: u64,
    /// The access mode: `R`, `W`, `RW`, `REDUX`, `COMMUTE`.
    pub mode: String,
}

/// Why a worker had nothing to do before a task, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// The cause.
    pub cause: Cause,
    /// The task that it ran next, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// Why a worker was idle: what had not happened yet to the task that it ran next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It had not been submitted.
    Submission,
    /// What it depends on had not ended.
    Dependency,
    /// It was ready, and the worker had not taken it: scheduling, and the runtime's own work.
    Scheduler,
    /// Its data were on their way.
    Transfer,
    /// There was none: the run's end.
    End,
}

impl Cause {
    /// All of them, in the order in which they come before a task.
    pub const ALL: [Self; 5] =
        [Self::Submission, Self::Dependency, Self::Scheduler, Self::Transfer, Self::End];

    /// The cause as it is written in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Dependency => "dependency",
            Self::Scheduler => "scheduler",
            Self::Transfer => "transfer",
            Self::End => "end",
        }
    }
}

/// Elements that were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The array's number.
    pub array: u64,
    /// The memory node that they came from.
    pub from: u32,
    /// The memory node that they went to.
    pub to: u32,
    /// How many bytes.
    pub bytes: u64,
}

/// An end of the arrow from a task to one that depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrow {
    /// The number that both ends have.
    pub id: u64,
    /// `dependency`.
    pub name: String,
    /// `dependency`.
    pub cat: String,
    /// When, in microseconds.
    pub ts: f64,
    /// Of the slice that it is at.
    pub pid: u32,
    /// Of the slice that it is at.
    pub tid: u32,
    /// `e` at the head: the arrow ends at the slice around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bp: Option<String>,
}

/// A value that changes over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// `memory`.
    pub name: String,
    /// When, in microseconds.
    pub ts: f64,
    /// The memory node's number plus one.
    pub pid: u32,
    /// The values.
    pub args: Memory,
}

/// How much memory was reserved at a node: by arrays, by arenas with what they keep to use anew, by workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// In bytes.
    pub bytes: u64,
}

fn is_zero(value: &i32) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}
