//! Where the time of a run went, in numbers.

mod codelets;
mod path;
pub(crate) mod text;
mod transfers;
mod verdict;
mod workers;

use crate::format::Cause;
use crate::trace::{Cut, Trace};
use serde::Serialize;

/// Where the time of a run went. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// One sentence that says it.
    pub verdict: String,
    /// The program's name.
    pub program: String,
    /// The name of the machine.
    pub host: String,
    /// When the runtime was built, in seconds since 1970.
    pub started: u64,
    /// The scheduler's name.
    pub scheduler: String,
    /// Whether time is that of a simulation.
    pub is_virtual: bool,
    /// Where the file ends before the run does, if so.
    pub cut: Option<Cut>,
    /// How long the run took.
    pub run_us: f64,
    /// How many tasks have run.
    pub tasks: usize,
    /// How many of them failed or were cancelled.
    pub failed: usize,
    /// The share of the workers' time in which they ran tasks.
    pub busy_share: f64,
    /// What workers did, by memory node and number.
    pub workers: Vec<WorkerSummary>,
    /// The codelets, those that took longest first.
    pub codelets: Vec<CodeletSummary>,
    /// The transfers, by where they came from and went to.
    pub transfers: Vec<TransferSummary>,
    /// The most memory in use at each node.
    pub memory: Vec<MemorySummary>,
    /// The longest chain of tasks.
    pub critical_path: CriticalPathSummary,
}

/// What a worker did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerSummary {
    /// Its name.
    pub name: String,
    /// Its number; nothing for the host.
    pub number: Option<u32>,
    /// Its kind.
    pub kind: String,
    /// The number of its memory node.
    pub node: u32,
    /// How many tasks it ran.
    pub tasks: usize,
    /// How long it ran tasks.
    pub busy_us: f64,
    /// How long it ran none.
    pub idle_us: f64,
    /// The same by cause.
    pub idle: IdleSummary,
}

/// Idle time by cause, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IdleSummary {
    /// The next task had not been submitted.
    pub submission_us: f64,
    /// What it depends on had not ended.
    pub dependency_us: f64,
    /// It was ready, and had not been taken.
    pub scheduler_us: f64,
    /// Its data were on their way.
    pub transfer_us: f64,
    /// There was none.
    pub end_us: f64,
    /// The trace does not say why: gaps of less than 1 us between tasks, or a file that is cut.
    pub unknown_us: f64,
}

/// What the tasks of a codelet took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeletSummary {
    /// Its name.
    pub name: String,
    /// Its full name.
    pub path: String,
    /// How many tasks.
    pub count: usize,
    /// How long they took together.
    pub total_us: f64,
    /// The mean.
    pub mean_us: f64,
    /// The median; of an even number, the mean of the two in the middle.
    pub median_us: f64,
    /// The shortest.
    pub min_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The share of the time in which workers ran tasks.
    pub share: f64,
    /// How many had been predicted.
    pub predicted: usize,
    /// The mean of `|predicted - measured| / measured` of these.
    pub prediction_error: Option<f64>,
}

/// What was copied from one memory node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferSummary {
    /// The name of the memory node that it came from.
    pub from: String,
    /// The name of the memory node that it went to.
    pub to: String,
    /// How many transfers.
    pub count: usize,
    /// How many bytes.
    pub bytes: u64,
    /// How long they took, one after the other.
    pub total_us: f64,
}

/// The most memory that was in use at a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemorySummary {
    /// The node's name.
    pub node: String,
    /// How many bytes.
    pub peak_bytes: u64,
    /// When for the first time.
    pub at_us: f64,
}

/// The longest chain of tasks, each of which depends on the one before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticalPathSummary {
    /// How long it is.
    pub length_us: f64,
    /// The part of that in which data were waited for.
    pub transfers_us: f64,
    /// Its share of the run.
    pub share: f64,
    /// How many tasks are on it.
    pub tasks: usize,
    /// The same by codelet, those that take longest first.
    pub codelets: Vec<PathCodelet>,
}

/// What a codelet has on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathCodelet {
    /// Its full name.
    pub path: String,
    /// Its name.
    pub name: String,
    /// How many tasks.
    pub count: usize,
    /// How long they took.
    pub total_us: f64,
}

impl Trace {
    /// Where the time went.
    pub fn summary(&self) -> Summary {
        let about = self.about();
        let workers = workers::summarized(self);
        let critical_path = path::summarized(self);
        let mut summary = Summary {
            verdict: String::new(),
            program: about.program.clone(),
            host: about.host.clone(),
            started: about.started,
            scheduler: about.scheduler.clone(),
            is_virtual: about.is_virtual,
            cut: self.cut(),
            run_us: us(self.duration_ns()),
            tasks: self.tasks().len(),
            failed: self.tasks().iter().filter(|task| task.failure.is_some()).count(),
            busy_share: workers::busy_share(&workers),
            workers,
            codelets: codelets::summarized(self),
            transfers: transfers::summarized(self),
            memory: transfers::peaks(self),
            critical_path,
        };
        summary.verdict = verdict::of(&summary);
        summary
    }
}

impl IdleSummary {
    /// The time by cause, and the name of each as people read it.
    pub fn causes(&self) -> [(&'static str, f64); 6] {
        [
            ("submission", self.submission_us),
            ("dependency", self.dependency_us),
            ("scheduler", self.scheduler_us),
            ("transfer", self.transfer_us),
            ("end of the run", self.end_us),
            ("unknown", self.unknown_us),
        ]
    }
}

/// The place of a cause in a list by cause.
fn place(cause: Cause) -> usize {
    match cause {
        Cause::Submission => 0,
        Cause::Dependency => 1,
        Cause::Scheduler => 2,
        Cause::Transfer => 3,
        Cause::End => 4,
    }
}

fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// `part / whole`, or 0 of nothing.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
