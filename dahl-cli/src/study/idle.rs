//! Study: what keeps workers idle.
//!
//! A network is trained on batches of 32, 64 and 128 samples while the runtime records a trace. For each idle time, the
//! trace has the cause (`dahl_trace::format::Cause`): the event that the worker's next task waited for. Three machines:
//! this one; a simulated one with eight CPU workers; and a simulated one with a CPU worker and a device five times as
//! fast.
//!
//! Only the training counts, not the construction of the network. On the machine with a device, performance models know
//! the tasks.

use dahl::{Runtime, RuntimeBuilder, Speed};
use dahl_nn::prelude::*;
use dahl_trace::Trace;
use dahl_trace::format::Cause;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure};
use super::programs::{Cnn, First, Models, Trained, beside_cpu, of_cpu, unchecked};
use super::rounds::in_turn;
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "idle",
    question: "What keeps workers idle: submission, dependencies, the scheduler or transfers?",
    time: Time::Both,
    rounds: 11,
    run,
};

const FILTERS: usize = 8;
const BATCHES: [usize; 3] = [32, 64, 128];
const SIMULATED_WORKERS: usize = 8;
const DEVICE_SPEED: f64 = 5.0;

/// The parts of bars: running tasks, the causes of idle time, and the rest: the runtime's own work between tasks.
const PARTS: [&str; 7] = ["tasks", "submission", "dependency", "scheduler", "transfer", "end", "other"];

/// The fractions of a worker's time, in the order of [`PARTS`].
type Shares = [f64; PARTS.len()];

/// A machine of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Machine {
    Here,
    Cpu,
    Device,
}

impl Machine {
    fn name(self, session: &Session<'_>) -> String {
        match self {
            Self::Here => format!("this machine, {} CPU workers", session.settings.workers),
            Self::Cpu => format!("simulated, {SIMULATED_WORKERS} CPU workers"),
            Self::Device => "simulated, CPU worker and device".to_owned(),
        }
    }

    /// The runtime on which the training is traced. With a device, models know the tasks.
    fn builder(self, session: &Session<'_>, models: Option<&Models>) -> RuntimeBuilder {
        let builder = unchecked();
        match self {
            Self::Here => builder.cpu_workers(session.settings.workers).scheduler("ws"),
            Self::Cpu => builder
                .cpu_workers(SIMULATED_WORKERS)
                .virtual_machine(of_cpu(Speed::default()))
                .scheduler("ws"),
            Self::Device => models.map_or(builder, Models::builder).scheduler("dmda"),
        }
    }
}

/// The time of one kind of worker in one training.
#[derive(Clone, Debug)]
struct Use {
    kind: String,
    shares: Shares,
}

/// The part of `start..start + duration` that is within the training.
fn within(trained: &Trained, start_ns: u64, duration_ns: u64) -> f64 {
    let (begin_ns, end_ns) = (trained.begin_ns, trained.begin_ns + trained.ns);
    (start_ns + duration_ns).min(end_ns).saturating_sub(start_ns.max(begin_ns)) as f64
}

/// The time of each kind of worker in the training.
fn uses(trace: &Trace, trained: &Trained) -> Vec<Use> {
    let mut kinds: Vec<&str> = Vec::new();
    for worker in trace.workers().iter().filter(|worker| worker.number.is_some()) {
        if !kinds.contains(&worker.kind.as_str()) {
            kinds.push(&worker.kind);
        }
    }
    let of_kind = |worker: usize, kind: &str| {
        let worker = &trace.workers()[worker];
        worker.number.is_some() && worker.kind == kind
    };
    let shares = |kind: &str| {
        let workers = (0..trace.workers().len()).filter(|&worker| of_kind(worker, kind)).count();
        let mut ns = [0.0; PARTS.len()];
        for task in trace.tasks().iter().filter(|task| of_kind(task.worker, kind)) {
            ns[0] += within(trained, task.start_ns, task.duration_ns);
        }
        for idle in trace.idle().iter().filter(|idle| of_kind(idle.worker, kind)) {
            let cause =
                Cause::ALL.iter().position(|cause| *cause == idle.cause).expect("all causes are listed");
            ns[1 + cause] += within(trained, idle.start_ns, idle.duration_ns);
        }
        let whole = workers as f64 * trained.ns as f64;
        ns[PARTS.len() - 1] = (whole - ns.iter().sum::<f64>()).max(0.0);
        ns.map(|ns| ns / whole)
    };
    kinds.iter().map(|&kind| Use { kind: kind.to_owned(), shares: shares(kind) }).collect()
}

fn train(
    rt: &Runtime,
    data: &FashionMnist,
    batch: usize,
    samples: usize,
    seed: u64,
) -> Result<Trained, Trouble> {
    let samples = samples.max(batch);
    Ok(Cnn::new(FILTERS, batch, seed).train::<f32>(rt, &First::new(&data.train, samples))?)
}

/// Trains, and reads the trace.
fn measure(
    session: &Session<'_>,
    data: &FashionMnist,
    machine: Machine,
    batch: usize,
) -> Result<Vec<Use>, Trouble> {
    let folder =
        tempfile::tempdir().map_err(|error| Trouble::Failed(format!("a folder for a trace: {error}")))?;
    let trace = folder.path().join("trace.json");
    let (samples, seed) = (session.either(2048, 256), session.settings.seed);
    let program = |rt: &Runtime| train(rt, data, batch, samples, seed);
    let models = match machine {
        Machine::Device => {
            let device = Speed::default().times(DEVICE_SPEED);
            Some(Models::of(beside_cpu(Speed::default(), device, 10.0, 12.0), 1, program)?.0)
        }
        _ => None,
    };
    let rt = machine.builder(session, models.as_ref()).trace(&trace).build()?;
    let trained = program(&rt)?;
    drop(rt);
    let read = Trace::read(&trace).map_err(|error| Trouble::Failed(error.to_string()))?;
    Ok(uses(&read, &trained))
}

#[derive(Debug, Serialize)]
struct Row {
    machine: String,
    time: &'static str,
    batch: usize,
    workers: String,
    tasks: f64,
    submission: f64,
    dependency: f64,
    scheduler: f64,
    transfer: f64,
    end: f64,
    other: f64,
}

impl Row {
    fn new(machine: String, time: &'static str, batch: usize, kind: &str, shares: Shares) -> Self {
        let [tasks, submission, dependency, scheduler, transfer, end, other] = shares;
        let workers = kind.to_owned();
        Self { machine, time, batch, workers, tasks, submission, dependency, scheduler, transfer, end, other }
    }

    fn shares(&self) -> Shares {
        [self.tasks, self.submission, self.dependency, self.scheduler, self.transfer, self.end, self.other]
    }
}

/// Means over rounds, so that the fractions add up.
fn mean(rounds: &[Vec<Use>], index: usize) -> Shares {
    let mut sum = [0.0; PARTS.len()];
    for round in rounds {
        for (sum, share) in sum.iter_mut().zip(round[index].shares) {
            *sum += share / rounds.len() as f64;
        }
    }
    sum
}

fn panel(caption: &str, rows: &[&Row]) -> Bars {
    let mut bars = Bars::new(caption, Axis::linear("% of the workers' time").to(100.0));
    let kinds = rows.iter().any(|row| row.workers != rows[0].workers);
    for row in rows {
        let label =
            if kinds { format!("{}, {}", row.workers, row.batch) } else { format!("batch {}", row.batch) };
        let parts = PARTS.iter().zip(row.shares()).map(|(&name, share)| (name.to_owned(), 100.0 * share));
        bars = bars.bar(Bar::stacked(label, parts.collect()));
    }
    bars
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    session.setting("filters", FILTERS as i64);
    session.setting("device_times_as_fast", DEVICE_SPEED);
    let mut rows = Vec::new();
    let mut add = |session: &Session<'_>, machine: Machine, batch, rounds: &[Vec<Use>]| {
        let time = if machine == Machine::Here { "real" } else { "virtual" };
        rows.extend(rounds[0].iter().enumerate().map(|(index, of_kind)| {
            Row::new(machine.name(session), time, batch, &of_kind.kind, mean(rounds, index))
        }));
    };
    let name = |batch: &usize| format!("batches of {batch}");
    let here =
        in_turn(session, "idle", &BATCHES, name, |&batch| measure(session, &data, Machine::Here, batch))?;
    for (&batch, rounds) in BATCHES.iter().zip(&here) {
        add(session, Machine::Here, batch, rounds);
    }
    for machine in [Machine::Cpu, Machine::Device] {
        for batch in BATCHES {
            add(session, machine, batch, &[measure(session, &data, machine, batch)?]);
        }
    }
    let (real, simulated): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.time == "real");
    session.table("real.csv", &real)?;
    session.table("virtual.csv", &simulated)?;

    let mut figure = Figure::new("What workers do, and wait for, by size of the batch", 2);
    let mut findings = Findings::new([
        "machine",
        "batch",
        "workers",
        "tasks",
        "submission",
        "dependency",
        "scheduler",
        "transfer",
        "end",
        "other",
    ]);
    for machine in [Machine::Here, Machine::Cpu, Machine::Device] {
        let name = machine.name(session);
        let mut of_machine: Vec<&Row> = rows.iter().filter(|row| row.machine == name).collect();
        of_machine.sort_by_key(|row| row.workers.clone());
        figure = figure.panel(panel(&name, &of_machine));
        for row in of_machine {
            let cells = [row.machine.clone(), row.batch.to_string(), row.workers.clone()].into_iter();
            findings.row(cells.chain(row.shares().map(|share| format!("{:.0} %", 100.0 * share))));
        }
    }
    session.figure("idle.svg", &figure)?;
    Ok(findings)
}
