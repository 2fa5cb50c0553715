//! Study: time and energy of programs by schedulers that weigh one against the other.
//!
//! On three described machines, in virtual time. Beside the smallest program stand the plans of the least time and of the least energy
//! that a search finds; it says whether it has proven that no schedule is better, or ended before.

use dahl::{Machine, Speed, VirtualDevice};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series};
use super::programs::{Cholesky, Gpt, Models, Workload, of_tiles, unchecked};
use super::session::Session;
use super::{Study, Time};
use crate::plan::least;
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "energy",
    question: "What does a joule cost in time, and how far are schedulers from the best plan?",
    time: Time::Virtual,
    rounds: 1,
    run,
};

const CPU_WORKERS: usize = 2;
/// Schedulers that weigh energy.
const SCHEDULERS: [&str; 2] = ["dmda", "heft"];
/// Seconds that a joule is worth, for tasks of milliseconds and watts of tens.
const WEIGHTS: [f64; 6] = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1];
/// Steps of the search for a best plan: the result does not depend on the machine.
const STEPS: u64 = 200_000;

/// A described machine: its name, how many times as fast its device is as a core, and the watts of a core and of the device, busy and
/// idle.
struct Described {
    name: &'static str,
    times_as_fast: f64,
    gbytes_per_s: f64,
    core: (f64, f64),
    device: (f64, f64),
}

const MACHINES: [Described; 3] = [
    Described {
        name: "workstation",
        times_as_fast: 8.0,
        gbytes_per_s: 12.0,
        core: (12.0, 2.0),
        device: (300.0, 30.0),
    },
    Described {
        name: "laptop",
        times_as_fast: 3.0,
        gbytes_per_s: 8.0,
        core: (8.0, 1.0),
        device: (35.0, 4.0),
    },
    Described { name: "board", times_as_fast: 2.0, gbytes_per_s: 20.0, core: (2.5, 0.4), device: (5.0, 0.5) },
];

impl Described {
    fn machine(&self) -> Machine {
        let speed = Speed::default();
        let device = VirtualDevice::new("device").speed(speed.times(self.times_as_fast));
        let device = device.link(10.0, self.gbytes_per_s).power(self.device.0, self.device.1);
        let mut machine = Machine { devices: vec![device], ..Machine::default() };
        machine.cpu.speed = speed;
        (machine.cpu.watts, machine.cpu.idle_watts) = (Some(self.core.0), Some(self.core.1));
        machine
    }
}

#[derive(Debug, Serialize)]
struct Row {
    machine: &'static str,
    program: String,
    /// A scheduler, or which plan.
    by: &'static str,
    seconds_per_joule: f64,
    time_us: f64,
    joules: f64,
    /// Of a plan: whether no schedule is better.
    proven: Option<bool>,
}

/// The programs, and whether plans stand beside. Tiles of 16 rows are computed, and [take](of_tiles) what those of 512 would.
fn programs(session: &Session<'_>) -> Vec<(Workload, bool)> {
    let tiles = |tiles| Workload::Cholesky(Cholesky { tiles, rows: 16 });
    vec![
        (Workload::Cnn { batch: 64, steps: session.either(4, 1) }, false),
        (Workload::Gpt(Gpt { batch: 4, steps: session.either(2, 1) }), false),
        (tiles(session.either(10, 4)), false),
        (tiles(session.either(4, 3)), true),
    ]
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    let seed = session.settings.seed;
    session.setting("cpu_workers", CPU_WORKERS as i64);
    session.setting("search_steps", STEPS as i64);
    let programs = programs(session);
    let progress = session.progress(MACHINES.len() * programs.len(), "energy");
    let mut rows = Vec::new();
    for described in &MACHINES {
        for &(workload, is_planned) in &programs {
            progress.begin(format!("{}: {}", described.name, workload.name()));
            let machine = match workload {
                Workload::Cholesky(_) => of_tiles(described.machine()),
                _ => described.machine(),
            };
            let row = |by, seconds_per_joule, time_us, joules, proven| {
                let (machine, program) = (described.name, workload.name());
                Row { machine, program, by, seconds_per_joule, time_us, joules, proven }
            };
            let (models, _) = Models::of(machine.clone(), CPU_WORKERS, |rt| workload.run(rt, &data, seed))?;
            for scheduler in SCHEDULERS {
                for weight in WEIGHTS {
                    let builder = models.builder().scheduler(scheduler).energy_weight(weight);
                    let rt = builder.build()?;
                    let (mark, ns) = (rt.energy_mark(), workload.run(&rt, &data, seed)?);
                    let joules = rt.energy_since(&mark).value();
                    let joules =
                        joules.ok_or_else(|| Trouble::Failed("the machine has no power".to_owned()))?;
                    rows.push(row(scheduler, weight, ns as f64 / 1e3, joules, None));
                }
            }
            if is_planned {
                let folder = tempfile::tempdir().map_err(|error| Trouble::Failed(error.to_string()))?;
                let path = folder.path().join("run.json");
                let builder = unchecked().cpu_workers(CPU_WORKERS).virtual_machine(machine.clone());
                workload.run(&builder.scheduler("eager").trace(&path).build()?, &data, seed)?;
                for (by, is_time) in [("least time", true), ("least energy", false)] {
                    let plan = least(&path, &machine, CPU_WORKERS, is_time, STEPS)?;
                    let (us, joules) = (plan.nanoseconds as f64 / 1e3, plan.picojoules as f64 / 1e12);
                    rows.push(row(by, 0.0, us, joules, Some(plan.optimal)));
                }
            }
            progress.done();
        }
    }
    session.table("energy.csv", &rows)?;
    session.figure("energy.svg", &figure(&rows))?;
    Ok(findings(&rows))
}

/// The rows of each machine and program, in order.
fn groups(rows: &[Row]) -> impl Iterator<Item = &[Row]> {
    rows.chunk_by(|one, two| (one.machine, &one.program) == (two.machine, &two.program))
}

fn figure(rows: &[Row]) -> Figure {
    let mut figure = Figure::new("Time and energy over the weight of energy", 2);
    for group in groups(rows) {
        let title = format!("{}: {}", group[0].machine, group[0].program);
        let mut lines = Lines::new(title, Axis::linear("time (ms)"), Axis::linear("energy (mJ)"));
        for by in SCHEDULERS {
            let points = group.iter().filter(|row| row.by == by);
            let points = points.map(|row| Point::exact(row.time_us / 1e3, row.joules * 1e3));
            lines = lines.series(Series::new(by, points.collect()));
        }
        figure = figure.panel(lines);
    }
    figure
}

fn findings(rows: &[Row]) -> Findings {
    let mut findings = Findings::new(["machine", "program", "by", "s/J", "time, ms", "energy, mJ"]);
    for group in groups(rows) {
        for row in group
            .iter()
            .filter(|row| row.proven.is_some() || [0.0, 0.01, 0.1].contains(&row.seconds_per_joule))
        {
            let by = match row.proven {
                Some(true) => format!("{}, proven", row.by),
                Some(false) => format!("{}, best found", row.by),
                None => row.by.to_owned(),
            };
            let weight =
                if row.proven.is_some() { "-".to_owned() } else { row.seconds_per_joule.to_string() };
            findings.row([
                row.machine.to_owned(),
                row.program.clone(),
                by,
                weight,
                format!("{:.3}", row.time_us / 1e3),
                format!("{:.2}", row.joules * 1e3),
            ]);
        }
    }
    findings.remark("Tiles of 16 rows are computed; their tasks and transfers take what those of tiles of 512 rows would.");
    findings.remark("The energy of a run includes its initialisation; the least energy is that of the tasks and of idle workers until they end.");
    findings
}
