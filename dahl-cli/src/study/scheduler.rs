//! Study: which scheduler suits which program.
//!
//! Every scheduler runs the training of a small network and a factorisation in tiles, on the CPU workers of this
//! machine, and on a simulated machine with two CPU workers and a device five times as fast as one of them. There,
//! performance models either know the tasks from earlier runs, or know nothing.

use dahl::{Machine, Runtime, RuntimeBuilder, Speed};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure};
use super::programs::{Cholesky, Cnn, First, Models, beside_cpu, of_tiles, unchecked};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "scheduler",
    question: "Which scheduler is fastest on a network, on a factorisation, and beside a device?",
    time: Time::Both,
    rounds: 11,
    run,
};

const FILTERS: usize = 8;
const BATCH: usize = 64;
const SPEED: Speed = Speed {
    gflops: 200.0,
    gbytes_per_s: 20.0,
    overhead_us: 1.0,
    co_running: 0.0,
    codelets: std::collections::BTreeMap::new(),
};
const DEVICE_SPEED: f64 = 5.0;
const SIMULATED_WORKERS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Cnn { steps: usize },
    Cholesky { tiles: usize, rows: usize },
}

impl Program {
    fn name(self) -> String {
        match self {
            Self::Cnn { .. } => format!("CNN, batches of {BATCH}"),
            Self::Cholesky { tiles, .. } => format!("Cholesky, {tiles} x {tiles} tiles"),
        }
    }

    fn run(self, rt: &Runtime, data: &FashionMnist, seed: u64) -> Result<f64, Trouble> {
        let ns = match self {
            Self::Cnn { steps } => {
                Cnn::new(FILTERS, BATCH, seed).train::<f32>(rt, &First::new(&data.train, steps * BATCH))?.ns
            }
            Self::Cholesky { tiles, rows } => Cholesky { tiles, rows }.run(rt)?,
        };
        Ok(ns as f64 / 1e3)
    }

    /// The machine on which it is simulated.
    fn machine(self) -> Machine {
        let machine = beside_cpu(SPEED, SPEED.times(DEVICE_SPEED), 10.0, 12.0);
        match self {
            Self::Cnn { .. } => machine,
            Self::Cholesky { .. } => of_tiles(machine),
        }
    }
}

#[derive(Debug, Serialize)]
struct Row {
    machine: &'static str,
    program: String,
    scheduler: &'static str,
    models: &'static str,
    time_us: f64,
    time_us_low: f64,
    time_us_high: f64,
}

const REAL: &str = "this machine";
const SIMULATED: &str = "2 CPU workers and a device";
const KNOWN: &str = "models know the tasks";
const UNKNOWN: &str = "no models";

impl Row {
    fn spread(&self) -> Spread {
        Spread { median: self.time_us, low: self.time_us_low, high: self.time_us_high }
    }
}

fn real(session: &Session<'_>, data: &FashionMnist) -> Result<Vec<Row>, Trouble> {
    let programs = [
        Program::Cnn { steps: session.either(48, 2) },
        Program::Cholesky { tiles: session.either(12, 4), rows: session.either(128, 32) },
    ];
    let schedulers = Runtime::schedulers();
    let variants: Vec<(Program, &str)> = programs
        .iter()
        .flat_map(|&program| schedulers.iter().map(move |&scheduler| (program, scheduler)))
        .collect();
    let name = |(program, scheduler): &(Program, &str)| format!("{scheduler}: {}", program.name());
    let seed = session.settings.seed;
    let measured = in_turn(session, "scheduler", &variants, name, |&(program, scheduler)| {
        let builder = unchecked().cpu_workers(session.settings.workers);
        program.run(&builder.scheduler(scheduler).rand_seed(seed).build()?, data, seed)
    })?;
    let row = |(&(program, scheduler), rounds): (&(Program, &'static str), &Vec<f64>)| {
        let Spread { median, low, high } = Spread::over(rounds, |us| *us);
        let (machine, models, program) = (REAL, UNKNOWN, program.name());
        Row { machine, program, scheduler, models, time_us: median, time_us_low: low, time_us_high: high }
    };
    Ok(variants.iter().zip(&measured).map(row).collect())
}

fn simulated(session: &Session<'_>, data: &FashionMnist) -> Result<Vec<Row>, Trouble> {
    let programs = [
        Program::Cnn { steps: session.either(8, 1) },
        Program::Cholesky { tiles: session.either(12, 4), rows: 16 },
    ];
    let seed = session.settings.seed;
    let progress = session.progress(programs.len() * Runtime::schedulers().len(), "scheduler");
    let mut rows = Vec::new();
    for program in programs {
        let (models, _) = Models::of(program.machine(), SIMULATED_WORKERS, |rt| program.run(rt, data, seed))?;
        for scheduler in Runtime::schedulers() {
            progress.begin(format!("{scheduler}: {}, simulated", program.name()));
            let first = unchecked().cpu_workers(SIMULATED_WORKERS).virtual_machine(program.machine());
            let us = |builder: RuntimeBuilder| {
                program.run(&builder.scheduler(scheduler).rand_seed(seed).build()?, data, seed)
            };
            let (first_us, known_us) = (us(first)?, us(models.builder())?);
            rows.extend([(KNOWN, known_us), (UNKNOWN, first_us)].map(|(models, time_us)| Row {
                machine: SIMULATED,
                program: program.name(),
                scheduler,
                models,
                time_us,
                time_us_low: time_us,
                time_us_high: time_us,
            }));
            progress.done();
        }
    }
    Ok(rows)
}

fn panels(mut figure: Figure, rows: &[Row]) -> Figure {
    let mut programs: Vec<&str> = rows.iter().map(|row| row.program.as_str()).collect();
    programs.dedup();
    for program in programs {
        let mut bars = Bars::new(program, Axis::linear("time (ms)"));
        // The sequential scheduler uses one worker, and its bar would dwarf the others.
        let shown = rows.iter().filter(|row| row.program == program && row.scheduler != "sequential");
        let mut last = "";
        for row in shown {
            let label = if row.scheduler == last { "" } else { row.scheduler };
            last = row.scheduler;
            let bar = Bar::new(label, row.models, row.time_us / 1e3);
            bars = bars.bar(bar.spread(row.time_us_low / 1e3, row.time_us_high / 1e3));
        }
        figure = figure.panel(bars);
    }
    figure
}

/// A line for each scheduler: its times relative to the best, by machine, program, and whether models know the tasks.
fn findings(real: &[Row], simulated: &[Row]) -> Findings {
    let mut findings = Findings::new([
        "scheduler",
        "here: CNN",
        "here: Cholesky",
        "device: CNN",
        "no models",
        "device: Cholesky",
        "no models ",
    ]);
    for scheduler in Runtime::schedulers() {
        let cell = |row: &Row, rows: &[Row]| {
            let of_program = rows.iter().filter(|other| other.program == row.program);
            let best_us = of_program.map(|row| row.time_us).fold(f64::INFINITY, f64::min);
            format!("{:.2}", row.time_us / best_us)
        };
        let of = |rows: &[Row]| -> Vec<String> {
            rows.iter().filter(|row| row.scheduler == *scheduler).map(|row| cell(row, rows)).collect()
        };
        findings.row([vec![(*scheduler).to_owned()], of(real), of(simulated)].concat());
    }
    for rows in real.chunks(Runtime::schedulers().len()) {
        findings.remark(conclusion(rows));
    }
    findings.remark("Times relative to the fastest of the same program on the same machine.");
    findings
}

/// The fastest scheduler of a program on this machine, within the spread of the rounds.
fn conclusion(rows: &[Row]) -> String {
    let best = rows.iter().min_by(|a, b| a.time_us.total_cmp(&b.time_us)).expect("there are schedulers");
    let others = rows.iter().filter(|row| row.scheduler != best.scheduler);
    let alike: Vec<&str> =
        others.filter(|row| !row.spread().is_apart(&best.spread())).map(|row| row.scheduler).collect();
    if alike.is_empty() {
        return format!("Here, {}: {} is the fastest.", best.program, best.scheduler);
    }
    format!(
        "Here, {}: {} has the least median; the differences of {} from it are within the spread.",
        best.program,
        best.scheduler,
        alike.join(", ")
    )
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    session.setting("filters", FILTERS as i64);
    session.setting("batch", BATCH as i64);
    session.setting("device_times_as_fast", DEVICE_SPEED);
    let real = real(session, &data)?;
    let simulated = simulated(session, &data)?;
    session.table("real.csv", &real)?;
    session.table("virtual.csv", &simulated)?;
    session.figure(
        "real.svg",
        &panels(Figure::new("Schedulers on the CPU workers of this machine", 2), &real),
    )?;
    let title = "Schedulers on two CPU workers and a device, simulated";
    session.figure("virtual.svg", &panels(Figure::new(title, 2), &simulated))?;

    Ok(findings(&real, &simulated))
}
