//! Study: how close a simulated run comes to the real one, on a machine that `dahl machine calibrate` has measured.
//!
//! The machine is measured with programs of some batch and tile sizes, and held to programs of others. Trainings take some steps
//! before the measured ones, in real and in virtual time.

use std::ops::RangeInclusive;

use dahl::{Machine, Runtime};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure};
use super::programs::{Workload, unchecked};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::machine::calibrate;
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "simulation",
    question: "How close does a simulated run come to the real one?",
    time: Time::Both,
    rounds: 9,
    run,
};

/// A run.
#[derive(Clone, Copy)]
struct Run {
    us: f64,
    peak_bytes: usize,
    transfers: u64,
    transferred_bytes: u64,
}

impl Run {
    fn of(rt: &Runtime, workload: Workload, data: &FashionMnist, seed: u64) -> Result<Self, Trouble> {
        let us = workload.run_warm(rt, data, seed)? as f64 / 1e3;
        let transfers = rt.transfers();
        Ok(Self {
            us,
            peak_bytes: rt.memory()[0].peak_bytes,
            transfers: transfers.iter().map(|total| total.count).sum(),
            transferred_bytes: transfers.iter().map(|total| total.bytes).sum(),
        })
    }
}

#[derive(Debug, Serialize)]
struct Row {
    program: String,
    workers: usize,
    real_us: f64,
    real_us_low: f64,
    real_us_high: f64,
    simulated_us: f64,
    /// Of the simulated time, relative to the median of the real ones.
    error: f64,
    /// The least of the rounds, and the most: which tasks of other workers are in flight differs from run to run.
    real_peak_bytes_least: usize,
    real_peak_bytes_most: usize,
    simulated_peak_bytes: usize,
    real_transfers: u64,
    simulated_transfers: u64,
    real_transferred_bytes: u64,
    simulated_transferred_bytes: u64,
}

impl Row {
    /// The peaks of the rounds.
    fn real_peaks(&self) -> RangeInclusive<usize> {
        self.real_peak_bytes_least..=self.real_peak_bytes_most
    }

    fn real_peak_kib(&self) -> String {
        let kib = |bytes: &usize| format!("{:.1}", *bytes as f64 / 1024.0);
        let peaks = self.real_peaks();
        if peaks.start() == peaks.end() {
            return kib(peaks.start());
        }
        format!("{} to {}", kib(peaks.start()), kib(peaks.end()))
    }
}

fn simulated(machine: &Machine, workers: usize) -> dahl::Result<Runtime> {
    unchecked().cpu_workers(workers).virtual_machine(machine.clone()).build()
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    let (seed, quick) = (session.settings.seed, session.settings.is_quick);
    let most = session.settings.workers.min(2);
    let machine = calibrate::measure(most, quick, seed, session.output())?.machine;
    session.text("machine.toml", &calibrate::text(&machine)?)?;
    let workloads = Workload::unseen(quick);
    let variants: Vec<(Workload, usize)> =
        workloads.iter().flat_map(|&workload| (1..=most).map(move |workers| (workload, workers))).collect();
    let name = |(workload, workers): &(Workload, usize)| format!("{} on {workers} workers", workload.name());
    let measured = in_turn(session, "simulation", &variants, name, |&(workload, workers)| {
        Run::of(&unchecked().cpu_workers(workers).build()?, workload, &data, seed)
    })?;
    let mut rows = Vec::new();
    for (&(workload, workers), real) in variants.iter().zip(&measured) {
        let simulated = Run::of(&simulated(&machine, workers)?, workload, &data, seed)?;
        let Spread { median, low, high } = Spread::over(real, |run| run.us);
        let peaks = || real.iter().map(|run| run.peak_bytes);
        let most = |of: fn(&Run) -> u64| real.iter().map(of).max().unwrap_or(0);
        rows.push(Row {
            program: workload.name(),
            workers,
            real_us: median,
            real_us_low: low,
            real_us_high: high,
            simulated_us: simulated.us,
            error: simulated.us / median - 1.0,
            real_peak_bytes_least: peaks().min().unwrap_or(0),
            real_peak_bytes_most: peaks().max().unwrap_or(0),
            simulated_peak_bytes: simulated.peak_bytes,
            real_transfers: most(|run| run.transfers),
            simulated_transfers: simulated.transfers,
            real_transferred_bytes: most(|run| run.transferred_bytes),
            simulated_transferred_bytes: simulated.transferred_bytes,
        });
    }
    session.table("simulation.csv", &rows)?;
    session.figure("simulation.svg", &figure(&rows))?;
    Ok(findings(&rows))
}

/// Real and simulated times beside each other, for each number of workers.
fn figure(rows: &[Row]) -> Figure {
    let mut figure = Figure::new("Real runs, and simulated ones on the measured machine", 2);
    let most = rows.iter().map(|row| row.workers).max().unwrap_or(1);
    for workers in 1..=most {
        let mut bars = Bars::new(format!("workers: {workers}"), Axis::linear("time (ms)"));
        for row in rows.iter().filter(|row| row.workers == workers) {
            let real = Bar::new(&row.program, "real", row.real_us / 1e3);
            bars = bars.bar(real.spread(row.real_us_low / 1e3, row.real_us_high / 1e3));
            bars = bars.bar(Bar::new("", "simulated", row.simulated_us / 1e3));
        }
        figure = figure.panel(bars);
    }
    figure
}

fn findings(rows: &[Row]) -> Findings {
    let mut findings = Findings::new([
        "program",
        "workers",
        "real, ms",
        "simulated, ms",
        "error, %",
        "peak, real, KiB",
        "simulated",
    ]);
    for row in rows {
        findings.row([
            row.program.clone(),
            row.workers.to_string(),
            format!("{:.2}", row.real_us / 1e3),
            format!("{:.2}", row.simulated_us / 1e3),
            format!("{:+.1}", 100.0 * row.error),
            row.real_peak_kib(),
            format!("{:.1}", row.simulated_peak_bytes as f64 / 1024.0),
        ]);
    }
    let error = Spread::over(rows, |row| row.error.abs());
    findings.remark(format!(
        "The median error is {:.1} %, and a quarter of the programs are off by more than {:.1} %.",
        100.0 * error.median,
        100.0 * error.high
    ));
    let (fixed, varying): (Vec<&Row>, Vec<&Row>) =
        rows.iter().partition(|row| row.real_peak_bytes_least == row.real_peak_bytes_most);
    let is_met = |row: &&&Row| row.real_peaks().contains(&row.simulated_peak_bytes);
    findings.remark(format!(
        "Of {} programs whose real runs all have one peak of memory, the simulated peak is that one in {}; of {} whose real runs \
         differ, it is between the least and the most in {}.",
        fixed.len(),
        fixed.iter().filter(is_met).count(),
        varying.len(),
        varying.iter().filter(is_met).count()
    ));
    findings
}
