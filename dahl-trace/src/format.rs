//! The lines of a trace file: Chrome's trace events, one on each line.
//!
//! The file is a JSON array whose closing bracket may be missing, as Chrome's format permits: it is written while the
//! program runs, so a file that a crash cuts short can be opened as well. Brackets have lines of their own; every other
//! line but the last ends with a comma. The first one describes the program that wrote the file ([`About`]); the last
//! one has the time of the end, if the run was complete ([`End`]). The lines between them are in no particular order.
//!
//! A worker is a thread (`tid`) of its memory node (`pid`). Transfers are on threads of their own: one for each pair of
//! memory nodes. Both numbers begin at 1, since viewers use number 0 for the idle process.

use dahl_energy::{DomainEnergy, Joules};
use serde::{Deserialize, Serialize};

/// The version of the format that this crate writes and reads.
pub const VERSION: u32 = 1;
/// The beginning of a counter's name whose values are powers. The name of a domain follows.
pub const POWER: &str = "power of ";
/// The first `tid` of transfers; smaller ones are workers'.
pub const TRANSFERS: u32 = 10_000;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ph")]
pub enum Line {
    /// Metadata of the run, a memory node or a worker.
    #[serde(rename = "M")]
    Metadata(Metadata),
    /// An event with a duration.
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

/// A line of metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The memory node's number plus one.
    pub pid: u32,
    /// The worker's number plus one, or 0.
    #[serde(default)]
    pub tid: u32,
    /// The metadata itself.
    #[serde(flatten)]
    pub fact: Fact,
}

/// Metadata.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", content = "args", rename_all = "snake_case")]
pub enum Fact {
    /// The first line of the file.
    Dahl(About),
    /// The name of a memory node, as viewers know it.
    ProcessName(Named),
    /// The name of a worker, of the host or of a link, as viewers know it.
    ThreadName(Named),
    /// Further metadata of a worker.
    Worker(Worker),
    /// A comparison of clocks, of one of several ranks.
    Clock(Clock),
    /// The energy of the run, if it is complete.
    Energy(RunEnergy),
    /// The last line of a complete run.
    End(End),
}

/// The energy of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnergy {
    /// That of all memory nodes.
    pub run: Joules,
    /// That of each memory node, with the processors that work in it.
    pub nodes: Vec<NodeEnergy>,
    /// What each counter says. Empty in virtual time.
    pub domains: Vec<DomainEnergy>,
}

/// The energy of a memory node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEnergy {
    /// The node.
    pub node: u32,
    /// Its energy.
    pub energy: Joules,
}

/// The program and the runtime that wrote the file.
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
    /// The rank that it was, if it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// How many ranks there were. Without a rank, the file has the traces of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
}

/// A comparison of the clock of a rank with that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// When it was, in microseconds of the rank's own clock.
    pub at_us: f64,
    /// By how much the clock of rank 0 is ahead, in microseconds.
    pub ahead_us: f64,
    /// How long question and answer were under way, in microseconds: the error is at most half of it.
    pub round_trip_us: f64,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Worker {
    /// Its number; none for the host, which helps.
    pub worker: Option<u32>,
    /// Its kind: `cpu`, or the name of a device.
    pub kind: String,
    /// The memory node that its kernels work in.
    pub node: u32,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The time of the end, in microseconds.
    pub end_us: f64,
    /// Tasks that have run.
    pub tasks: u64,
}

/// An event with a duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The name in viewers: the codelet's name, `idle: dependency`, or the array that was copied.
    pub name: String,
    /// Its beginning, in microseconds since the runtime was built, to the nanosecond.
    pub ts: f64,
    /// Its duration, in microseconds.
    pub dur: f64,
    /// The memory node's number plus one; for a transfer, that of the destination.
    pub pid: u32,
    /// The worker's number plus one, one more than all workers for the host, or a transfer's.
    pub tid: u32,
    /// The kind of event, with its data.
    #[serde(flatten)]
    pub what: What,
}

/// The kind of an event, with its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cat", content = "args", rename_all = "snake_case")]
pub enum What {
    /// A task's kernel.
    Task(Box<Task>),
    /// Idle time, and its cause.
    Idle(Idle),
    /// A transfer.
    Transfer(Transfer),
}

/// A completed task. Times are in microseconds since the runtime was built; the slice lasts from the call of the kernel
/// to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its number in the order of submission.
    pub task: u64,
    /// The codelet's full name: module and name; for a task that the runtime adds to a reduction, that of a
    /// contribution.
    pub codelet: String,
    /// The kernel that ran: `fold` or `finish` for a task that the runtime adds to a reduction. None if the task was
    /// cancelled, or failed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The element type of each data parameter.
    pub elements: Vec<String>,
    /// The extents of each.
    pub footprint: Vec<Vec<usize>>,
    /// The floating-point operations that its declaration says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flops: Option<f64>,
    /// The bytes that it moves, by its declaration or else those of its arrays. None in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<f64>,
    /// The arrays that it uses, in the order of the declaration.
    pub arrays: Vec<ArrayUse>,
    /// The predicted duration when the worker took it, if the model had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_us: Option<f64>,
    /// The duration of the kernel, which is that of the slice.
    pub measured_us: f64,
    /// When it was submitted.
    pub submitted_us: f64,
    /// What the submitting thread did by itself since its submission before: not while it waited, ran tasks or wrote this trace.
    /// None for its first submission, for a task that the runtime or a callback submitted, and in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_us: Option<f64>,
    /// When all its dependencies had ended; for a task that commutes, when it also held the commute lock.
    pub ready_us: f64,
    /// When the worker took it.
    pub taken_us: f64,
    /// The tasks that it directly depends on through the chains of its arrays, in order. A partition is not a task: an
    /// access to a part depends on accesses to the whole array, and the other way round. Tasks that commute do not
    /// depend on each other.
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
    /// What it sends or receives, if it is one end of a message between ranks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// The reason if it failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A message between ranks. No two of a run are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// The rank that sends it.
    pub from: u32,
    /// The rank that receives it.
    pub to: u32,
    /// The number of the array, which is the same on all ranks.
    pub array: u64,
    /// How often the array had been written.
    pub version: u64,
}

/// An array that a task uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayUse {
    /// The number of the array or part, never reused in a run. A contribution to a reduction uses the array of the
    /// reduction, and so do its folds.
    pub array: u64,
    /// The access mode: `R`, `W`, `RW`, `REDUX`, `COMMUTE`.
    pub mode: String,
    /// Its size. None in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// Idle time of a worker before a task, or at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idle {
    /// The cause.
    pub cause: Cause,
    /// The task that it ran next, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// Why a worker was idle: what the task that it ran next was still waiting for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It had not been submitted.
    Submission,
    /// Its dependencies had not ended.
    Dependency,
    /// It was ready, and the worker had not taken it: scheduling, and the runtime's own work.
    Scheduler,
    /// Its data were being transferred.
    Transfer,
    /// There was no next task: the end of the run.
    End,
}

impl Cause {
    /// All causes, in the order in which they occur before a task.
    pub const ALL: [Self; 5] =
        [Self::Submission, Self::Dependency, Self::Scheduler, Self::Transfer, Self::End];

    /// The name of the cause in the file.
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

/// A transfer.
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

/// One end of the arrow from a task to a task that depends on it, or receives what it sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrow {
    /// The number that both ends have.
    pub id: u64,
    /// `dependency` or `message`.
    pub name: String,
    /// `dependency` or `message`.
    pub cat: String,
    /// The time, in microseconds.
    pub ts: f64,
    /// The `pid` of its slice.
    pub pid: u32,
    /// The `tid` of its slice.
    pub tid: u32,
    /// `e` at the head: the arrow ends at the slice around it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bp: Option<String>,
}

/// A value that changes over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// `memory`, or `power of` and a domain.
    pub name: String,
    /// The time from which on it has this value, in microseconds.
    pub ts: f64,
    /// How long it is known to have it, in microseconds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dur: Option<f64>,
    /// The memory node's number plus one.
    pub pid: u32,
    /// The value.
    pub args: Level,
}

/// The value of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// Memory in use.
    Memory(Memory),
    /// Power.
    Power(Power),
}

/// The mean power between two readings of an energy counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// In watts.
    pub watts: f64,
}

/// Memory reserved at a node: by arrays, by arenas with the memory that they keep for reuse, by workers.
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
