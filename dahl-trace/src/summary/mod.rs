//! The time of a run by its uses, in numbers.

mod codelets;
mod energy;
mod path;
pub(crate) mod text;
mod transfers;
mod verdict;
mod workers;

use crate::format::Cause;
use crate::trace::{Cut, Trace};
use dahl_energy::Joules;
use serde::Serialize;

/// Where the time of a run went. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The conclusion, in one sentence.
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
    /// Where an incomplete file ends.
    pub cut: Option<Cut>,
    /// The duration of the run.
    pub run_us: f64,
    /// The number of tasks that ran.
    pub tasks: usize,
    /// The number of tasks that failed or were cancelled.
    pub failed: usize,
    /// The fraction of the workers' time in which they ran tasks.
    pub busy_share: f64,
    /// The workers, by memory node and number.
    pub workers: Vec<WorkerSummary>,
    /// The codelets, the longest total time first.
    pub codelets: Vec<CodeletSummary>,
    /// The transfers, by source and destination.
    pub transfers: Vec<TransferSummary>,
    /// The most memory in use at each node.
    pub memory: Vec<MemorySummary>,
    /// The energy; none if the file does not say.
    pub energy: Option<EnergySummary>,
    /// The longest chain of dependent tasks.
    pub critical_path: CriticalPathSummary,
}

/// The energy of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergySummary {
    /// That of all memory nodes.
    pub run: Joules,
    /// That of each memory node, with the processors that work in it.
    pub nodes: Vec<EnergyPart>,
    /// What each counter says. Empty in virtual time.
    pub domains: Vec<EnergyPart>,
}

/// The energy of a memory node or of a counter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnergyPart {
    /// The name of the node or of the counter's domain.
    pub name: String,
    /// The domain that contains it.
    pub within: Option<String>,
    /// Its energy.
    pub energy: Joules,
    /// Its mean power over the run, in watts, if the energy is known.
    pub mean_watts: Option<f64>,
}

/// The activity of a worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerSummary {
    /// Its name.
    pub name: String,
    /// Its number; none for the host.
    pub number: Option<u32>,
    /// Its kind.
    pub kind: String,
    /// The number of its memory node.
    pub node: u32,
    /// How many tasks it ran.
    pub tasks: usize,
    /// How long it ran tasks.
    pub busy_us: f64,
    /// How long it ran no task.
    pub idle_us: f64,
    /// That time by cause.
    pub idle: IdleSummary,
}

/// Idle time by cause, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct IdleSummary {
    /// The next task had not been submitted.
    pub submission_us: f64,
    /// Its dependencies had not ended.
    pub dependency_us: f64,
    /// It was ready, and the worker had not taken it.
    pub scheduler_us: f64,
    /// Its data were being transferred.
    pub transfer_us: f64,
    /// There was no next task.
    pub end_us: f64,
    /// Unknown: gaps of less than 1 us between tasks, or an incomplete file.
    pub unknown_us: f64,
}

/// The tasks of a codelet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CodeletSummary {
    /// Its name.
    pub name: String,
    /// Its full name.
    pub path: String,
    /// The number of tasks.
    pub count: usize,
    /// Their total duration.
    pub total_us: f64,
    /// The mean.
    pub mean_us: f64,
    /// The median; of an even number, the mean of the two in the middle.
    pub median_us: f64,
    /// The shortest.
    pub min_us: f64,
    /// The longest.
    pub max_us: f64,
    /// The fraction of the time in which workers ran tasks.
    pub share: f64,
    /// The number of tasks with a prediction.
    pub predicted: usize,
    /// The mean of `|predicted - measured| / measured` over these.
    pub prediction_error: Option<f64>,
}

/// The transfers from one memory node to another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransferSummary {
    /// The name of the source.
    pub from: String,
    /// The name of the destination.
    pub to: String,
    /// How many transfers.
    pub count: usize,
    /// How many bytes.
    pub bytes: u64,
    /// Their total duration.
    pub total_us: f64,
}

/// The peak memory use of a node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemorySummary {
    /// The node's name.
    pub node: String,
    /// How many bytes.
    pub peak_bytes: u64,
    /// When it was first reached.
    pub at_us: f64,
}

/// The longest chain of dependent tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CriticalPathSummary {
    /// Its length.
    pub length_us: f64,
    /// The part of it in which tasks wait for transfers.
    pub transfers_us: f64,
    /// Its length relative to the run.
    pub share: f64,
    /// The number of its tasks.
    pub tasks: usize,
    /// Its tasks by codelet, the longest total time first.
    pub codelets: Vec<PathCodelet>,
}

/// The tasks of a codelet on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathCodelet {
    /// Its full name.
    pub path: String,
    /// Its name.
    pub name: String,
    /// The number of tasks.
    pub count: usize,
    /// Their total duration.
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
            energy: energy::summarized(self),
            critical_path,
        };
        summary.verdict = verdict::of(&summary);
        summary
    }
}

impl IdleSummary {
    /// The time by cause, with the cause's name for display.
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

/// The index of a cause in a list by cause.
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

/// `part / whole`, or 0 if `whole` is 0.
fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
