//! Study: how programs scale with the number of CPU workers.
//!
//! On this machine with as many workers as it has cores, and on simulated machines with many more. There the workers
//! share nothing (no cache, no memory bandwidth) and submission takes no time, so only the graph limits scaling.

use dahl::{Runtime, RuntimeBuilder, Speed};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::granularity::powers_to;
use super::plot::{Axis, Figure, Lines, Point, Series, at};
use super::programs::{Cholesky, Cnn, First, of_cpu, of_tiles, unchecked};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "workers",
    question: "How do programs scale with the number of CPU workers?",
    time: Time::Both,
    rounds: 11,
    run,
};

const FILTERS: usize = 8;

/// A program of the study.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Program {
    /// Steps of training on batches of so many samples.
    Cnn { batch: usize, steps: usize },
    /// A factorisation.
    Cholesky(Cholesky),
}

impl Program {
    fn name(self) -> String {
        match self {
            Self::Cnn { batch, .. } => format!("CNN, batches of {batch}"),
            Self::Cholesky(Cholesky { tiles, .. }) => format!("Cholesky, {tiles} x {tiles} tiles"),
        }
    }

    /// Its duration, in nanoseconds of the runtime's clock.
    fn run(self, rt: &Runtime, data: &FashionMnist, seed: u64) -> Result<u64, Trouble> {
        match self {
            Self::Cnn { batch, steps } => {
                let data = First::new(&data.train, batch * steps);
                Ok(Cnn::new(FILTERS, batch, seed).train::<f32>(rt, &data)?.ns)
            }
            Self::Cholesky(cholesky) => Ok(cholesky.run(rt)?),
        }
    }

    /// The runtime of a simulated machine.
    fn simulated(self) -> RuntimeBuilder {
        let machine = of_cpu(Speed::default());
        unchecked().virtual_machine(match self {
            Self::Cnn { .. } => machine,
            Self::Cholesky(_) => of_tiles(machine),
        })
    }
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    time: &'static str,
    workers: usize,
    time_us: f64,
    time_us_low: f64,
    time_us_high: f64,
    /// Relative to one worker, by the medians.
    speedup: f64,
}

impl Row {
    fn spread(&self) -> Spread {
        Spread { median: self.time_us, low: self.time_us_low, high: self.time_us_high }
    }
}

fn real(session: &Session<'_>, data: &FashionMnist) -> Result<Vec<Row>, Trouble> {
    let steps = |samples: usize, batch: usize| samples / batch;
    let samples = session.either(4096, 512);
    let programs = [
        Program::Cnn { batch: 32, steps: steps(samples, 32) },
        Program::Cnn { batch: 512, steps: steps(samples, 512) },
        Program::Cholesky(Cholesky { tiles: session.either(12, 4), rows: session.either(128, 32) }),
    ];
    let workers = powers_to(session.settings.workers);
    let variants: Vec<(Program, usize)> =
        programs.iter().flat_map(|&program| workers.iter().map(move |&workers| (program, workers))).collect();
    let name = |(program, workers): &(Program, usize)| format!("{} on {workers} workers", program.name());
    let measured = in_turn(session, "workers", &variants, name, |&(program, workers)| {
        let rt = unchecked().cpu_workers(workers).build()?;
        program.run(&rt, data, session.settings.seed).map(|ns| ns as f64 / 1e3)
    })?;
    let spreads: Vec<Spread> = measured.iter().map(|rounds| Spread::over(rounds, |us| *us)).collect();
    let row = |(index, &(program, workers)): (usize, &(Program, usize))| {
        let alone = variants.iter().position(|variant| *variant == (program, 1)).unwrap_or(index);
        let Spread { median, low, high } = spreads[index];
        Row {
            program: program.name(),
            time: "real",
            workers,
            time_us: median,
            time_us_low: low,
            time_us_high: high,
            speedup: spreads[alone].median / median,
        }
    };
    Ok(variants.iter().enumerate().map(row).collect())
}

fn simulated(session: &Session<'_>, data: &FashionMnist) -> Result<Vec<Row>, Trouble> {
    let most = session.either(64, 4);
    let tiles: &[usize] = session.either(&[8, 16], &[4]);
    let batches: &[usize] = session.either(&[32, 512], &[32]);
    let cnn = |&batch: &usize| Program::Cnn { batch, steps: session.either(4, 1) };
    let cholesky = |&tiles: &usize| Program::Cholesky(Cholesky { tiles, rows: 16 });
    let programs: Vec<Program> = batches.iter().map(cnn).chain(tiles.iter().map(cholesky)).collect();
    let workers = powers_to(most);
    let progress = session.progress(programs.len() * workers.len(), "workers");
    let mut rows = Vec::new();
    for program in programs {
        let mut alone_us = None;
        for &workers in &workers {
            progress.begin(format!("{} on {workers} simulated workers", program.name()));
            let rt = program.simulated().cpu_workers(workers).scheduler("ws").build()?;
            let time_us = program.run(&rt, data, session.settings.seed)? as f64 / 1e3;
            let speedup = *alone_us.get_or_insert(time_us) / time_us;
            rows.push(Row {
                program: program.name(),
                time: "virtual",
                workers,
                time_us,
                time_us_low: time_us,
                time_us_high: time_us,
                speedup,
            });
            progress.done();
        }
    }
    Ok(rows)
}

fn panel(caption: &str, rows: &[Row]) -> Lines {
    let mut workers: Vec<usize> = rows.iter().map(|row| row.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let ticks = || at(&workers, |workers| workers as f64);
    let axis = |label: &str| Axis::log(label).ticks(ticks());
    let mut lines = Lines::new(caption, axis("CPU workers"), axis("speed-up"));
    let mut programs: Vec<&str> = rows.iter().map(|row| row.program.as_str()).collect();
    programs.dedup();
    for program in programs {
        let points = rows.iter().filter(|row| row.program == program).map(|row| {
            let alone_us = row.speedup * row.time_us;
            Point {
                x: row.workers as f64,
                y: row.speedup,
                low: alone_us / row.time_us_high,
                high: alone_us / row.time_us_low,
            }
        });
        lines = lines.series(Series::new(program, points.collect()));
    }
    lines.guide(
        "as many times as workers",
        workers.iter().map(|&workers| (workers as f64, workers as f64)).collect(),
    )
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    session.setting("filters", FILTERS as i64);
    let real = real(session, &data)?;
    let simulated = simulated(session, &data)?;
    let figure = Figure::new("Speed-up by number of CPU workers", 2)
        .panel(panel("this machine", &real))
        .panel(panel("simulated: the graph alone", &simulated));
    session.figure("speedup.svg", &figure)?;
    session.table("real.csv", &real)?;
    session.table("virtual.csv", &simulated)?;

    let mut findings = Findings::new(["program", "time", "workers", "speed-up"]);
    let last = |rows: &[Row]| rows.iter().map(|row| row.workers).max().unwrap_or(1);
    for rows in [&real, &simulated] {
        let shown = rows
            .iter()
            .filter(|row| row.workers == last(rows) || (row.time == "virtual" && row.workers == 8));
        for row in shown {
            let speedup = format!("{:.2}", row.speedup);
            findings.row([row.program.clone(), row.time.to_owned(), row.workers.to_string(), speedup]);
        }
    }
    if last(&real) > 1 {
        findings.remark(conclusion(&real, last(&real)));
    }
    Ok(findings)
}

/// The programs that are faster with all workers than with one, beyond the spread of the rounds.
fn conclusion(rows: &[Row], most: usize) -> String {
    let against = |row: &Row| {
        let alone = rows.iter().find(|other| other.program == row.program && other.workers == 1);
        let words = match alone {
            Some(alone) if alone.spread().is_apart(&row.spread()) => {
                if row.speedup > 1.0 {
                    "faster"
                } else {
                    "slower"
                }
            }
            _ => "within the spread",
        };
        format!("{} {words}", row.program)
    };
    let programs: Vec<String> = rows.iter().filter(|row| row.workers == most).map(against).collect();
    format!("In real time, {most} workers against one: {}.", programs.join("; "))
}
