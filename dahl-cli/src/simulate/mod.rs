//! `dahl simulate PROGRAM`: how long a run, or a saved program, would take on another machine.
//!
//! The tasks are submitted again to a runtime in virtual time, with kernels that do nothing: its schedulers, memories and links are
//! those of every simulated run.

mod changes;
mod stand_in;

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use dahl::{Machine, Runtime, RuntimeBuilder};
use serde::Serialize;

use crate::calibration;
use crate::output::Output;
use crate::recorded::Recorded;
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;
use changes::changed;
use stand_in::StandIns;

const EXAMPLES: &str = "\
Examples:
  dahl simulate step.program --machine machine.toml --cpus 4
  dahl simulate step.program --machine machine.toml --set device.gpu.link_gbytes_per_s=6
  dahl simulate step.program --machine machine.toml --scheduler heft
  DAHL_TRACE=run.json cargo run --release     a run to simulate";

/// The arguments of `dahl simulate`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The trace of a run (`DAHL_TRACE`), or a saved program (`graph().save(FILE)`).
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// A machine file, as for `DAHL_MACHINE`. Of a trace, the default is the machine that its tasks show.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    machine: Option<PathBuf>,
    /// The workers of the CPU [default: as many as ran, or one].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    cpus: Option<u16>,
    /// Another figure of the machine, as often as you like: `cpu.speed.gflops=100`, `device.gpu.link_gbytes_per_s=6`.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    changes: Vec<String>,
    /// The scheduler [default: dmda if there are devices, else ws].
    #[arg(long, conflicts_with = "plan")]
    scheduler: Option<String>,
    /// A plan of the scheduler `static`, as `dahl plan schedule --out` writes it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    plan: Option<PathBuf>,
    /// The seed by which durations vary, as the machine says; without one all take the mean.
    #[arg(long)]
    seed: Option<u64>,
}

/// What the run would be.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    tasks: usize,
    scheduler: &'static str,
    nanoseconds: u64,
    /// Of the run in the trace, from its first submission to its last end.
    recorded_nanoseconds: Option<u64>,
    joules: Option<f64>,
    workers: Vec<WorkerRow>,
    nodes: Vec<NodeRow>,
    transfers: Vec<TransferRow>,
    plan_divergences: Vec<String>,
}

#[derive(Serialize)]
struct WorkerRow {
    name: String,
    tasks: u64,
    busy_us: f64,
    joules: Option<f64>,
}

#[derive(Serialize)]
struct NodeRow {
    name: String,
    peak_bytes: usize,
}

#[derive(Serialize)]
struct TransferRow {
    from: usize,
    to: usize,
    count: u64,
    bytes: u64,
}

/// The runs before the one that counts, by which schedulers learn how long tasks take.
const EARLIER: usize = 2;

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { file, machine, cpus, changes, scheduler, plan, seed } = arguments;
    let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let recorded = Recorded::parse(file, &text)?;
    let recorded =
        recorded.ok_or_else(|| wrong("expected the trace of a run, or a saved program".to_owned()))?;
    let machine = match (machine, &recorded.trace) {
        (Some(path), _) => Machine::from_file(path)?,
        (None, Some(trace)) => calibration::machine(std::slice::from_ref(trace)).map_err(wrong)?,
        (None, None) => {
            let fact = "a saved program has not run: say what it runs on by `--machine FILE`";
            return Err(wrong(fact.to_owned()));
        }
    };
    let mut machine = changed(&machine, changes).map_err(|fact| Trouble::Input(format!("--set {fact}")))?;
    machine.seed = seed.or(machine.seed);
    let ran = recorded.trace.as_ref().map(|trace| {
        let workers = trace.workers().iter();
        workers.filter(|worker| worker.kind == "cpu" && worker.number.is_some()).count()
    });
    let cpus = cpus.map(usize::from).or(ran).unwrap_or(1).max(1);
    // More workers than the machine has cores are workers of a larger one.
    machine.cpu.cores = machine.cpu.cores.map(|cores| cores.max(cpus));
    let stand_ins = StandIns::new(&recorded, &machine);
    let builder = Runtime::builder().check(false).cpu_workers(cpus).virtual_machine(stand_ins.on(&machine));
    let default = if machine.devices.is_empty() { "ws" } else { "dmda" };
    let (rt, earlier) = match plan {
        Some(plan) => (with_plan(builder, plan, &stand_ins)?, 0),
        None => (builder.scheduler(scheduler.as_deref().unwrap_or(default)).build()?, EARLIER),
    };
    for _ in 0..earlier {
        stand_ins.run(&rt)?;
    }
    let (begin_ns, mark) = (rt.clock().now_ns(), rt.energy_mark());
    let (workers, transfers) = (rt.worker_uses(), rt.transfers());
    stand_ins.run(&rt)?;
    let times = recorded.trace.as_ref().and_then(|trace| {
        let begin_ns = trace.tasks().iter().map(|task| task.submitted_ns).min()?;
        Some(trace.tasks().iter().map(dahl_trace::Task::end_ns).max()? - begin_ns)
    });
    let used = rt.worker_uses().into_iter().zip(workers).map(|(after, before)| WorkerRow {
        name: after.name,
        tasks: after.tasks - before.tasks,
        busy_us: after.busy_us - before.busy_us,
        joules: after.energy_joules.zip(before.energy_joules).map(|(after, before)| after - before),
    });
    let moved = rt.transfers().into_iter().map(|after| {
        let is_it = |before: &&dahl::TransferTotal| (before.from, before.to) == (after.from, after.to);
        let (count, bytes) =
            transfers.iter().find(is_it).map_or((0, 0), |before| (before.count, before.bytes));
        let (from, to) = (after.from, after.to);
        TransferRow { from, to, count: after.count - count, bytes: after.bytes - bytes }
    });
    output.show(&Report {
        file,
        tasks: recorded.tasks.len(),
        scheduler: rt.scheduler(),
        nanoseconds: rt.clock().now_ns() - begin_ns,
        recorded_nanoseconds: times,
        joules: rt.energy_since(&mark).value(),
        workers: used.collect(),
        nodes: rt
            .memory()
            .into_iter()
            .map(|node| NodeRow { name: node.name, peak_bytes: node.peak_bytes })
            .collect(),
        transfers: moved.collect(),
        plan_divergences: rt.plan_divergences(),
    })
}

/// A runtime that follows a plan, in which the tasks have the names of those that stand in.
fn with_plan(builder: RuntimeBuilder, path: &Path, stand_ins: &StandIns<'_>) -> Result<Runtime, Trouble> {
    let text =
        fs::read_to_string(path).map_err(|error| Trouble::Input(format!("{}: {error}", path.display())))?;
    let places: HashMap<(u64, &str), (usize, &str)> = stand_ins
        .names()
        .enumerate()
        .map(|(place, (task, name))| ((task.number, &*task.codelet), (place, name)))
        .collect();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["task", number, codelet, worker, ..] => {
                let place = number.parse().ok().and_then(|number| places.get(&(number, codelet)));
                place.map_or_else(|| line.to_owned(), |(place, name)| format!("task {place} {name} {worker}"))
            }
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    let own = tempfile::NamedTempFile::new().map_err(|error| Trouble::Failed(format!("a plan: {error}")))?;
    fs::write(own.path(), lines.join("\n")).map_err(|error| Trouble::unwritable(own.path(), error))?;
    Ok(builder.plan(own.path()).build()?)
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, tasks, scheduler, nanoseconds, .. } = self;
        let mut table = Table::new(&["worker", ">tasks", ">busy", ">energy"]);
        for WorkerRow { name, tasks, busy_us, joules } in &self.workers {
            let busy = format!("{:.1} %", 100.0 * busy_us * 1e3 / (*nanoseconds).max(1) as f64);
            let joules = joules.map_or("-".to_owned(), |joules| format!("{joules:.6} J"));
            table.row([name.clone(), tasks.to_string(), busy, joules]);
        }
        writeln!(f, "{table}")?;
        for NodeRow { name, peak_bytes } in &self.nodes {
            writeln!(f, "{name}: at most {} at one time", units::bytes(*peak_bytes as f64))?;
        }
        for TransferRow { from, to, count, bytes } in self.transfers.iter().filter(|moved| moved.count > 0) {
            writeln!(f, "from node {from} to {to}: {count} transfers, {}", units::bytes(*bytes as f64))?;
        }
        let time = |ns: u64| units::time(ns as f64 / 1e3);
        write!(f, "{}: {tasks} tasks by {scheduler}: {}", file.display(), time(*nanoseconds))?;
        if let Some(recorded) = self.recorded_nanoseconds {
            write!(f, "; the run took {}", time(recorded))?;
        }
        writeln!(f, "{}", self.joules.map_or(String::new(), |joules| format!("; {joules:.6} J")))?;
        self.plan_divergences.iter().try_for_each(|divergence| writeln!(f, "{divergence}"))
    }
}
