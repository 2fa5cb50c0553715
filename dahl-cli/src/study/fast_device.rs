//! Study: does a device that is five times as fast make a run five times as fast?
//!
//! A network is trained on a simulated machine: on one CPU worker; on this and a device that is five times as fast at
//! everything, placed by a scheduler whose performance models know the tasks, or have learned them in four trainings
//! before; and on the device alone. One thing is varied at a time. The simulation does not include the time to submit
//! tasks, nor the host's own work, which real runs also have.

use std::collections::BTreeMap;

use dahl::{CodeletSpeed, Machine, Runtime, Speed};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure, Lines, Point, Series, at, number};
use super::programs::{Cnn, First, Models, beside_cpu, learned, unchecked};
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
/// Schedulers that know the durations of tasks and transfers, from models that know all tasks. The bars show the first
/// one.
const SCHEDULERS: [&str; 2] = ["dmda", "heft"];
/// The first one, without models at the beginning.
const LEARNING: &str = "dmda, learning";
/// Runs on the device alone.
const ALONE: &str = "device alone";
/// The runs that are compared with the CPU worker.
const WAYS: [&str; 4] = [SCHEDULERS[0], SCHEDULERS[1], LEARNING, ALONE];
/// The number of the device's worker.
const DEVICE_WORKER: usize = 1;
/// The most samples that a run sees.
const SAMPLES: usize = 4096;

/// A network and a link.
#[derive(Clone, Copy, Debug)]
struct Setup {
    batch: usize,
    filters: usize,
    /// Samples per task; the trainer's default if `None`.
    samples_per_task: Option<usize>,
    latency_us: f64,
    link_gbytes_per_s: f64,
    /// Codelets without a kernel for the device.
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

/// Codelets that a device may lack, by their purpose.
const ABSENT: [(&str, &[&str]); 5] = [
    ("none", &[]),
    ("loss", &["cross_entropy", "cross_entropy_backward", "count_correct"]),
    ("updates", &["descend"]),
    ("dense layer", &["matmul", "matmul_add", "bias", "bias_backward"]),
    // Including the operations that are fused with them: ReLU and pooling.
    (
        "convolutions",
        &[
            "conv2d",
            "conv2d_backward_filters",
            "conv2d_backward_input",
            "conv2d_relu",
            "conv2d_relu_backward",
            "conv2d_relu_max_pool2d",
            "conv2d_relu_max_pool2d_backward",
            "bias_relu_max_pool2d_backward",
        ],
    ),
];

/// The results of a run.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    us: f64,
    /// The fraction of the time in which the device ran tasks.
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

    fn train(&self, rt: &Runtime, data: &FashionMnist, steps: usize, seed: u64) -> Result<Outcome, Trouble> {
        let cnn = Cnn { micro_batch_size: self.samples_per_task, ..Cnn::new(self.filters, self.batch, seed) };
        let samples = (steps * self.batch).min(SAMPLES);
        let device_us = || rt.worker_uses().get(DEVICE_WORKER).map_or(0.0, |device| device.busy_us);
        let bytes = || rt.transfers().iter().map(|transfer| transfer.bytes).sum::<u64>();
        let now_us = || rt.clock().now_ns() as f64 / 1e3;
        let before = (now_us(), device_us(), bytes());
        let ns = cnn.train::<f32>(rt, &First::new(&data.train, samples))?.ns;
        Ok(Outcome {
            us: ns as f64 / 1e3,
            device_busy: (device_us() - before.1) / (now_us() - before.0),
            megabytes: (bytes() - before.2) as f64 / f64::from(1 << 20),
        })
    }

    /// Runs on the CPU worker, and in each of the [`WAYS`].
    fn runs(&self, data: &FashionMnist, steps: usize, seed: u64) -> Result<Runs, Trouble> {
        let program = |rt: &Runtime| self.train(rt, data, steps, seed);
        let (models, [cpu, device]) = Models::of(self.machine(), 1, program)?;
        let known = |scheduler| program(&models.builder().scheduler(scheduler).build()?);
        let learning = unchecked().cpu_workers(1).virtual_machine(self.machine()).scheduler(SCHEDULERS[0]);
        let learning = learned(&learning.build()?, program)?;
        Ok(Runs { cpu, ways: [known(SCHEDULERS[0])?, known(SCHEDULERS[1])?, learning, device] })
    }
}

/// The same training on different workers.
struct Runs {
    cpu: Outcome,
    ways: [Outcome; WAYS.len()],
}

#[derive(Debug, Serialize)]
struct Row {
    /// The parameter that is varied, and its value.
    varied: &'static str,
    value: String,
    batch: usize,
    filters: usize,
    samples_per_task: Option<usize>,
    latency_us: f64,
    link_gbytes_per_s: f64,
    /// One of the [`WAYS`].
    way: &'static str,
    cpu_us: f64,
    time_us: f64,
    speedup: f64,
    device_busy: f64,
    transferred_mb: f64,
}

/// The rows of a setup: one for each way.
fn rows_of(varied: &'static str, value: &str, setup: &Setup, runs: &Runs) -> Vec<Row> {
    let row = |(way, run): (&'static str, &Outcome)| Row {
        varied,
        value: value.to_owned(),
        batch: setup.batch,
        filters: setup.filters,
        samples_per_task: setup.samples_per_task,
        latency_us: setup.latency_us,
        link_gbytes_per_s: setup.link_gbytes_per_s,
        way,
        cpu_us: runs.cpu.us,
        time_us: run.us,
        speedup: runs.cpu.us / run.us,
        device_busy: run.device_busy,
        transferred_mb: run.megabytes,
    };
    WAYS.into_iter().zip(&runs.ways).map(row).collect()
}

/// A parameter that is varied.
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

/// The legend's name for a way.
fn title(way: &str) -> String {
    if way == ALONE { way.to_owned() } else { format!("CPU worker and device, {way}") }
}

impl Sweep {
    fn panel(&self, rows: &[Row]) -> Lines {
        let x = Axis::log(self.axis).ticks(at(&self.values, |value| value));
        let mut lines = Lines::new(format!("by {}", self.varied), x, Axis::linear("times as fast").to(6.5));
        for way in WAYS {
            let of_run = rows.iter().filter(|row| row.way == way);
            let points = self.values.iter().zip(of_run).map(|(&value, row)| Point::exact(value, row.speedup));
            lines = lines.series(Series::new(title(way), points.collect()));
        }
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let guide =
            |lines: Lines, times| lines.guide("5 times and once", vec![(first, times), (last, times)]);
        guide(guide(lines, TIMES_AS_FAST), 1.0)
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
    let measure = |varied, value: &str, setup: &Setup| {
        progress.begin(format!("{varied} {value}"));
        let runs = setup.runs(&data, steps, seed)?;
        progress.done();
        Ok::<_, Trouble>(rows_of(varied, value, setup, &runs))
    };
    let mut rows = Vec::new();
    let mut figure =
        Figure::new("A run with a device 5 times as fast, against a CPU worker alone (simulated)", 3);
    for sweep in &sweeps {
        let mut of_sweep = Vec::new();
        for &value in &sweep.values {
            of_sweep.extend(measure(sweep.varied, &value.to_string(), &(sweep.setup)(value))?);
        }
        figure = figure.panel(sweep.panel(&of_sweep));
        rows.extend(of_sweep);
    }
    let mut bars = Bars::new("by what the device has no kernels of", Axis::linear("times as fast").to(6.5));
    for (name, absent) in ABSENT {
        let of_setup = measure("no kernels of", name, &Setup { absent, ..base })?;
        for (label, way) in [(name, SCHEDULERS[0]), ("", ALONE)] {
            let row = of_setup.iter().find(|row| row.way == way).expect("each has a row");
            bars = bars.bar(Bar::new(label, title(way), row.speedup));
        }
        rows.extend(of_setup);
    }
    session.table("fast-device.csv", &rows)?;
    session.figure("fast-device.svg", &figure.panel(bars.guide("5 times and once", TIMES_AS_FAST)))?;
    Ok(findings(&rows))
}

/// A line for each setup: the speedup of each run, and how busy the first scheduler keeps the device.
fn findings(rows: &[Row]) -> Findings {
    let mut findings = Findings::new([
        "varied",
        "value",
        "dmda",
        "heft",
        "dmda, learning",
        "device alone",
        "device busy, dmda",
        "MB moved, dmda",
    ]);
    for of_setup in rows.chunks(WAYS.len()) {
        let first = &of_setup[0];
        let cells = [first.varied.to_owned(), first.value.clone()].into_iter();
        let speedups = of_setup.iter().map(|row| format!("{:.2}", row.speedup));
        let last = [format!("{:.0} %", 100.0 * first.device_busy), number(first.transferred_mb)];
        findings.row(cells.chain(speedups).chain(last));
    }
    findings
}
