//! `dahl plan schedule FILE`: which worker runs which task when.

mod file;
mod machine;
mod of_trace;

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::ValueHint;
use dahl_plan::schedule::{Error, Front, Objective, Options, Plan, front, plan_until};
use serde::Serialize;

use self::file::Named;
use crate::output::Output;
use crate::table::Table;
use crate::trouble::Trouble;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  dahl plan schedule tasks.toml                                 the least time
  dahl plan schedule tasks.toml --objective energy:0.002 --out plan.toml
  dahl plan schedule tasks.toml --objective front --json
  dahl plan schedule step.program --machine machine.toml --cpus 2
  DAHL_TRACE=run.json cargo run --release                       a run to plan";

/// The arguments of `dahl plan schedule`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The tasks, their edges and the machine, as TOML or JSON; or the trace of a run (`DAHL_TRACE`), or a saved program.
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// A machine file, as for `DAHL_MACHINE`, in place of the machine in the file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    machine: Option<PathBuf>,
    /// The workers of the CPU with `--machine`.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    cpus: u16,
    /// What is to be least: `time`, `energy`, `energy:SECONDS` (by a deadline), or `front`, all that no other one beats in both.
    #[arg(long, default_value = "time")]
    objective: Wanted,
    /// The most seconds that the search may take. What was found by then is the result.
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    seconds: f64,
    /// The most steps that the search may take, for a result that does not depend on the machine. Each is a schedule of some of the tasks.
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    steps: u64,
    /// The file for the plan, in the order of starts: tasks, workers and times as TOML; of a trace or a program, a plan that the scheduler
    /// `static` runs. With `front`, that of the fastest.
    #[arg(short, long, visible_alias = "output", value_name = "OUT", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
}

/// The objective on the command line.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    One(Objective),
    Front,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let energy = |deadline| Self::One(Objective::Energy { deadline });
        match text.split_once(':') {
            None if text == "time" => Ok(Self::One(Objective::Time)),
            None if text == "energy" => Ok(energy(None)),
            None if text == "front" => Ok(Self::Front),
            Some(("energy", deadline)) => {
                let nanoseconds = seconds(deadline)? * 1e9;
                Ok(energy(Some(nanoseconds.round() as u64)))
            }
            _ => Err("expected time, energy, energy:SECONDS or front".to_owned()),
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected seconds from 0 on".to_owned())?;
    Ok(seconds)
}

/// What was found.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a Path,
    tasks: usize,
    workers: usize,
    /// Whether all plans are proven, and with `front`, that there are no others.
    optimal: bool,
    plans: Vec<PlanRow<'a>>,
}

/// A schedule.
#[derive(Serialize)]
struct PlanRow<'a> {
    nanoseconds: u64,
    joules: f64,
    /// Nanoseconds with the objective `time`, else joules.
    lower_bound: f64,
    optimal: bool,
    gap: f64,
    states: u64,
    tasks: Vec<TaskRow<'a>>,
    #[serde(skip)]
    is_time: bool,
}

/// A task of a schedule.
#[derive(Serialize)]
struct TaskRow<'a> {
    task: &'a str,
    worker: &'a str,
    start_ns: u64,
    end_ns: u64,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    let Arguments { ref file, ref machine, cpus, objective, seconds, steps, ref out } = *arguments;
    let same = |path: &Path| path.canonicalize().ok();
    if let Some(out) = out.as_deref().filter(|out| same(out).is_some_and(|out| Some(out) == same(file))) {
        let wrong = "is the problem itself, which would be lost: give another `--out`";
        return Err(Trouble::Input(format!("{} {wrong}", out.display())));
    }
    let named = file::read(file, machine.as_deref().map(|machine| (machine, cpus.into())))?;
    let begin = Instant::now();
    let mut is_late = || begin.elapsed().as_secs_f64() >= seconds;
    let options = Options { states: steps, ..Options::default() };
    let found = match objective {
        Wanted::Front => front(&named.problem, &options, &mut is_late),
        Wanted::One(objective) => plan_until(&named.problem, objective, &options, &mut is_late)
            .map(|plan| Front { complete: plan.optimal, plans: vec![plan] }),
    };
    let found = found.map_err(|error| match error {
        Error::Infeasible { .. } | Error::Undecided { .. } => {
            Trouble::Failed(format!("{}: {error}", file.display()))
        }
        other => Trouble::Input(format!("{}: {other}", file.display())),
    })?;
    let is_time = matches!(objective, Wanted::One(Objective::Time));
    let report = Report {
        file,
        tasks: named.tasks.len(),
        workers: named.workers.len(),
        optimal: found.complete,
        plans: found.plans.iter().map(|plan| PlanRow::new(plan, &named, is_time)).collect(),
    };
    if let Some(out) = out {
        let text = match &named.of_run {
            Some((tasks, workers)) => {
                let placed = found.plans[0].placements.iter();
                of_trace::text(workers, placed.map(|one| (&tasks[one.task], one.worker)))
            }
            None => toml::to_string(&report.plans[0]).map_err(|error| Trouble::unwritable(out, error))?,
        };
        dahl_files::save(out, text.into_bytes()).map_err(|error| Trouble::unwritable(out, error))?;
    }
    output.show(&report)
}

/// The plan of a traced run with the least time, or the least energy, on a machine; the search takes so many steps.
pub(crate) fn least(
    trace: &Path,
    machine: &dahl::Machine,
    cpus: usize,
    is_time: bool,
    steps: u64,
) -> Result<Plan, Trouble> {
    let file = tempfile::NamedTempFile::new()
        .map_err(|error| Trouble::Failed(format!("a machine file: {error}")))?;
    let text = crate::machine::calibrate::text(machine)?;
    std::fs::write(file.path(), text).map_err(|error| Trouble::unwritable(file.path(), error))?;
    let named = file::read(trace, Some((file.path(), cpus)))?;
    let objective = if is_time { Objective::Time } else { Objective::Energy { deadline: None } };
    let options = Options { states: steps, ..Options::default() };
    plan_until(&named.problem, objective, &options, &mut || false)
        .map_err(|error| Trouble::Failed(format!("{}: {error}", trace.display())))
}

impl<'a> PlanRow<'a> {
    fn new(plan: &Plan, named: &'a Named, is_time: bool) -> Self {
        let value = if is_time { plan.nanoseconds } else { plan.picojoules };
        let row = |one: &dahl_plan::schedule::Placement| TaskRow {
            task: &named.tasks[one.task],
            worker: &named.workers[one.worker],
            start_ns: one.start,
            end_ns: one.end,
        };
        let lower_bound = plan.lower_bound as f64;
        Self {
            nanoseconds: plan.nanoseconds,
            joules: plan.picojoules as f64 / 1e12,
            lower_bound: if is_time { lower_bound } else { lower_bound / 1e12 },
            optimal: plan.optimal,
            gap: if value == 0 { 0.0 } else { (value - plan.lower_bound) as f64 / value as f64 },
            states: plan.states,
            tasks: plan.placements.iter().map(row).collect(),
            is_time,
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [plan] = &self.plans[..] {
            let mut table = Table::new(&["task", "worker", ">starts at", ">ends at"]);
            for TaskRow { task, worker, start_ns, end_ns } in &plan.tasks {
                let row = [(*task).to_owned(), (*worker).to_owned(), time(*start_ns), time(*end_ns)];
                table.row(row);
            }
            writeln!(f, "{table}")?;
        }
        let Self { file, tasks, workers, .. } = self;
        writeln!(f, "{}: {tasks} tasks on {workers} workers", file.display())?;
        for plan in &self.plans {
            let PlanRow { nanoseconds, joules, lower_bound, gap, states, .. } = plan;
            write!(f, "{nanoseconds} ns, {joules:.12} J: ")?;
            match (plan.optimal, plan.is_time) {
                (true, true) => write!(f, "no schedule is faster")?,
                (true, false) => write!(f, "no schedule that is in time takes less energy")?,
                (false, true) => {
                    write!(f, "every schedule takes {lower_bound} ns, {} less", units::percent(*gap))?
                }
                (false, false) => {
                    write!(f, "every schedule takes {lower_bound} J, {} less", units::percent(*gap))?
                }
            }
            writeln!(f, "; steps: {states}")?;
        }
        match (self.plans.len(), self.optimal) {
            (1, _) => Ok(()),
            (_, true) => writeln!(f, "No schedule is better than all of these, in time or in energy."),
            (_, false) => writeln!(f, "There may be others: the search did not end."),
        }
    }
}

/// Nanoseconds.
fn time(nanoseconds: u64) -> String {
    units::time(nanoseconds as f64 / 1e3)
}
