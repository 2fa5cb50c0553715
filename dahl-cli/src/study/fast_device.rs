//! Study: does a device that is five times as fast make a run five times as fast?
//!
//! A network is trained on a simulated machine: on one CPU worker; on it and a device that is five times as fast in everything,
//! placed by `dmda` with performance models from earlier runs; and on the device alone. One thing is varied at a time. What is
//! not simulated is the time of submitting tasks, and of the host's own work, which real runs have besides.

use std::collections::BTreeMap;

use dahl::{CodeletSpeed, Machine, Runtime, Speed};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure, Lines, Point, Series, at, number};
use super::programs::{Cnn, First, Pinned, beside_cpu, first_and_known, of_cpu};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "fast-device",
    question: "Does a device that is 5 times as fast make a run 5 times as fast, and where not?",
    time: Time::Virtual,
    rounds: 1,
    run,
};

const TIMES_AS_FAST: f64 = 5.0;
/// The number of the device's worker.
const DEVICE_WORKER: usize = 1;
/// The most samples that a run sees.
const SAMPLES: usize = 4096;

/// A network and a link.
#[derive(Clone, Copy, Debug)]
struct Setup {
    batch: usize,
    filters: usize,
    /// Samples that a task handles; the trainer's own choice if nothing is said.
    samples_per_task: Option<usize>,
    latency_us: f64,
    link_gbytes_per_s: f64,
    /// Codelets that the device has no kernels of.
    absent: &'static [&'static str],
}

const BASE: Setup = Setup {
    batch: 256,
    filters: 8,
    samples_per_task: None,
    latency_us: 10.0,
    link_gbytes_per_s: 12.0,
    absent: &[],
};

/// Codelets that a device may lack, by what they are for.
const ABSENT: [(&str, &[&str]); 5] = [
    ("none", &[]),
    ("loss", &["cross_entropy", "cross_entropy_backward", "count_correct"]),
    ("updates", &["descend"]),
    ("pooling", &["max_pool2d", "max_pool2d_backward"]),
    ("convolutions", &["conv2d", "conv2d_backward_filters", "conv2d_backward_input"]),
];

/// What a run has shown.
#[derive(Clone, Copy, Debug)]
struct Run {
    us: f64,
    /// The share of the time for which the device ran tasks.
    device_busy: f64,
    megabytes: f64,
}

impl Setup {
    fn machine(&self) -> Machine {
        let absent = |codelet: &&str| {
            ((*codelet).to_owned(), CodeletSpeed { absent: true, ..CodeletSpeed::default() })
        };
        let codelets: BTreeMap<_, _> = self.absent.iter().map(absent).collect();
        let device = Speed { codelets, ..Speed::default().times(TIMES_AS_FAST) };
        beside_cpu(Speed::default(), device, self.latency_us, self.link_gbytes_per_s)
    }

    fn train(&self, rt: &Runtime, data: &FashionMnist, steps: usize, seed: u64) -> Result<Run, Trouble> {
        let cnn = Cnn { granularity: self.samples_per_task, ..Cnn::new(self.filters, self.batch, seed) };
        let samples = (steps * self.batch).min(SAMPLES);
        let device_us = || rt.worker_uses().get(DEVICE_WORKER).map_or(0.0, |device| device.busy_us);
        let bytes = || rt.transfers().iter().map(|transfer| transfer.bytes).sum::<u64>();
        let now_us = || rt.clock().now_ns() as f64 / 1e3;
        let before = (now_us(), device_us(), bytes());
        let ns = cnn.train::<f32>(rt, &First::new(&data.train, samples))?.ns;
        Ok(Run {
            us: ns as f64 / 1e3,
            device_busy: (device_us() - before.1) / (now_us() - before.0),
            megabytes: (bytes() - before.2) as f64 / f64::from(1 << 20),
        })
    }

    /// On the CPU worker; on both; on the device.
    fn runs(&self, data: &FashionMnist, steps: usize, seed: u64) -> Result<[Run; 3], Trouble> {
        let cpu = Runtime::builder().cpu_workers(1).virtual_machine(of_cpu(Speed::default())).build()?;
        let program = |rt: &Runtime| self.train(rt, data, steps, seed);
        let both =
            Runtime::builder().cpu_workers(1).virtual_machine(self.machine()).scheduler("dmda").build()?;
        let [_, both] = first_and_known(&both, program)?;
        let device = Runtime::builder().cpu_workers(1).virtual_machine(self.machine());
        let device = device.custom_scheduler(Pinned::to(DEVICE_WORKER)).build()?;
        Ok([program(&cpu)?, both, program(&device)?])
    }
}

#[derive(Debug, Serialize)]
struct Row {
    /// What is varied, and its value.
    varied: &'static str,
    value: String,
    batch: usize,
    filters: usize,
    samples_per_task: Option<usize>,
    latency_us: f64,
    link_gbytes_per_s: f64,
    cpu_us: f64,
    both_us: f64,
    device_us: f64,
    speedup_both: f64,
    speedup_device: f64,
    device_busy_both: f64,
    device_busy_alone: f64,
    transferred_mb_both: f64,
    transferred_mb_device: f64,
}

impl Row {
    fn new(varied: &'static str, value: String, setup: &Setup, [cpu, both, device]: [Run; 3]) -> Self {
        Self {
            varied,
            value,
            batch: setup.batch,
            filters: setup.filters,
            samples_per_task: setup.samples_per_task,
            latency_us: setup.latency_us,
            link_gbytes_per_s: setup.link_gbytes_per_s,
            cpu_us: cpu.us,
            both_us: both.us,
            device_us: device.us,
            speedup_both: cpu.us / both.us,
            speedup_device: cpu.us / device.us,
            device_busy_both: both.device_busy,
            device_busy_alone: device.device_busy,
            transferred_mb_both: both.megabytes,
            transferred_mb_device: device.megabytes,
        }
    }
}

/// One thing that is varied.
struct Sweep {
    varied: &'static str,
    axis: &'static str,
    values: Vec<f64>,
    setup: fn(f64) -> Setup,
}

fn sweeps(session: &Session<'_>) -> [Sweep; 5] {
    let values = |whole: &[f64], quick: &[f64]| session.either(whole, quick).to_vec();
    [
        Sweep {
            varied: "batch",
            axis: "samples in a batch",
            values: values(&[4.0, 16.0, 64.0, 256.0, 1024.0], &[4.0, 32.0]),
            setup: |value| Setup { batch: value as usize, ..BASE },
        },
        Sweep {
            varied: "filters",
            axis: "filters of the convolution",
            values: values(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0], &[1.0, 4.0]),
            setup: |value| Setup { batch: 64, filters: value as usize, ..BASE },
        },
        Sweep {
            varied: "samples per task",
            axis: "samples that a task handles",
            values: values(&[2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0], &[64.0, 256.0]),
            setup: |value| Setup { samples_per_task: Some(value as usize), ..BASE },
        },
        Sweep {
            varied: "latency",
            axis: "latency of the link (µs)",
            values: values(&[0.1, 1.0, 10.0, 100.0, 1000.0], &[1.0, 100.0]),
            setup: |value| Setup { latency_us: value, ..BASE },
        },
        Sweep {
            varied: "bandwidth",
            axis: "bandwidth of the link (GB/s)",
            values: values(&[0.25, 1.0, 4.0, 16.0, 64.0], &[1.0, 16.0]),
            setup: |value| Setup { link_gbytes_per_s: value, ..BASE },
        },
    ]
}

/// What the legend calls the runs.
const BOTH: &str = "CPU worker and device";
const ALONE: &str = "device alone";

impl Sweep {
    fn panel(&self, rows: &[Row]) -> Lines {
        let x = Axis::log(self.axis).ticks(at(&self.values, |value| value));
        let mut lines = Lines::new(format!("by {}", self.varied), x, Axis::linear("times as fast").to(6.5));
        let both: fn(&Row) -> f64 = |row| row.speedup_both;
        for (name, speedup) in [(BOTH, both), (ALONE, |row: &Row| row.speedup_device)] {
            let points = self.values.iter().zip(rows).map(|(&value, row)| Point::exact(value, speedup(row)));
            lines = lines.series(Series::new(name, points.collect()));
        }
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        lines
            .guide("5 and 1 times", vec![(first, TIMES_AS_FAST), (last, TIMES_AS_FAST)])
            .guide("5 and 1 times", vec![(first, 1.0), (last, 1.0)])
    }
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    let steps: usize = session.either(8, 2);
    session.setting("steps", steps as i64);
    session.setting("most_samples", SAMPLES as i64);
    session.setting("device_times_as_fast", TIMES_AS_FAST);
    let base = session.either(BASE, Setup { batch: 64, ..BASE });
    let sweeps = sweeps(session);
    let count = sweeps.iter().map(|sweep| sweep.values.len()).sum::<usize>() + ABSENT.len();
    let progress = session.progress(count, "fast-device");
    let seed = session.settings.seed;
    let measure = |varied, value: String, setup: &Setup| {
        progress.begin(format!("{varied} {value}"));
        let row = Row::new(varied, value, setup, setup.runs(&data, steps, seed)?);
        progress.done();
        Ok::<_, Trouble>(row)
    };
    let mut rows = Vec::new();
    let mut figure =
        Figure::new("A run with a device 5 times as fast, against a CPU worker alone (simulated)", 3);
    for sweep in &sweeps {
        let values =
            sweep.values.iter().map(|&value| measure(sweep.varied, value.to_string(), &(sweep.setup)(value)));
        let of_sweep: Vec<Row> = values.collect::<Result<_, _>>()?;
        figure = figure.panel(sweep.panel(&of_sweep));
        rows.extend(of_sweep);
    }
    let mut bars = Bars::new("by what the device has no kernels of", Axis::linear("times as fast").to(6.5));
    for (name, absent) in ABSENT {
        let row = measure("no kernels of", name.to_owned(), &Setup { absent, ..base })?;
        bars = bars.bar(Bar::new(name, BOTH, row.speedup_both));
        bars = bars.bar(Bar::new("", ALONE, row.speedup_device));
        rows.push(row);
    }
    session.table("fast-device.csv", &rows)?;
    session.figure("fast-device.svg", &figure.panel(bars.guide("5 and 1 times", TIMES_AS_FAST)))?;

    let mut findings = Findings::new([
        "varied",
        "value",
        "CPU worker and device",
        "device alone",
        "device busy, of both",
        "transferred, MB",
    ]);
    for row in &rows {
        findings.row([
            row.varied.to_owned(),
            row.value.clone(),
            format!("{:.2}", row.speedup_both),
            format!("{:.2}", row.speedup_device),
            format!("{:.0} %", 100.0 * row.device_busy_both),
            number(row.transferred_mb_both),
        ]);
    }
    Ok(findings)
}
