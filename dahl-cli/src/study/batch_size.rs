//! Study: what the size of the batch costs and brings.
//!
//! * Throughput: samples a second over many steps, which follow each other without waiting.
//! * Latency: how long a single step takes, from its submission until its loss is known.
//! * Memory: the most that was reserved for arrays at once, with those of the steps on their way.
//! * Loss: the mean over the samples of the last epoch; each size sees the same samples, so a larger one updates less often.

use dahl::Runtime;
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, at, number};
use super::programs::{Cnn, First};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "batch-size",
    question: "What do larger batches bring in throughput, and cost in latency, memory and loss?",
    time: Time::Real,
    rounds: 7,
    run,
};

const FILTERS: usize = 8;
/// Single steps of which the latency is the mean.
const STEPS: usize = 8;

struct Round {
    samples_per_s: f64,
    latency_us: f64,
    peak_bytes: usize,
    loss: f64,
}

fn measure(
    session: &Session<'_>,
    data: &FashionMnist,
    samples: usize,
    batch: usize,
) -> Result<Round, Trouble> {
    let rt = Runtime::builder().cpu_workers(session.settings.workers).build()?;
    let cnn = Cnn::new(FILTERS, batch, session.settings.seed);
    let trained = cnn.train::<f32>(&rt, &First::new(&data.train, samples))?;
    let peak_bytes = rt.memory()[0].peak_bytes;
    // One batch an epoch: the next one begins when its loss is known.
    let single = Cnn { epochs: STEPS, ..cnn }.train::<f32>(&rt, &First::new(&data.train, batch))?;
    Ok(Round {
        samples_per_s: samples as f64 / (trained.ns as f64 / 1e9),
        latency_us: single.ns as f64 / 1e3 / STEPS as f64,
        peak_bytes,
        loss: trained.losses.last().copied().unwrap_or(f64::NAN),
    })
}

#[derive(Debug, Serialize)]
struct Row {
    batch: usize,
    samples_per_s: f64,
    samples_per_s_low: f64,
    samples_per_s_high: f64,
    latency_us: f64,
    latency_us_low: f64,
    latency_us_high: f64,
    peak_mb: f64,
    peak_mb_low: f64,
    peak_mb_high: f64,
    loss: f64,
}

impl Row {
    fn new(batch: usize, rounds: &[Round]) -> Self {
        let speed = Spread::over(rounds, |round| round.samples_per_s);
        let latency = Spread::over(rounds, |round| round.latency_us);
        let peak = Spread::over(rounds, |round| round.peak_bytes as f64 / f64::from(1 << 20));
        Self {
            batch,
            samples_per_s: speed.median,
            samples_per_s_low: speed.low,
            samples_per_s_high: speed.high,
            latency_us: latency.median,
            latency_us_low: latency.low,
            latency_us_high: latency.high,
            peak_mb: peak.median,
            peak_mb_low: peak.low,
            peak_mb_high: peak.high,
            loss: rounds[0].loss,
        }
    }
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    let samples: usize = session.either(4096, 128);
    let batches: &[usize] = session.either(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], &[1, 16, 64]);
    session.setting("samples", samples as i64);
    session.setting("filters", FILTERS as i64);
    let name = |batch: &usize| format!("batches of {batch}");
    let measured =
        in_turn(session, "batch-size", batches, name, |&batch| measure(session, &data, samples, batch))?;
    let rows: Vec<Row> =
        batches.iter().zip(&measured).map(|(&batch, rounds)| Row::new(batch, rounds)).collect();
    session.table("batch-size.csv", &rows)?;
    session.figure("batch-size.svg", &figure(&rows, batches))?;

    let mut findings =
        Findings::new(["batch", "samples/s", "latency of a step, us", "peak memory, MB", "loss"]);
    for row in &rows {
        findings.row([
            row.batch.to_string(),
            number(row.samples_per_s),
            number(row.latency_us),
            format!("{:.1}", row.peak_mb),
            format!("{:.3}", row.loss),
        ]);
    }
    let best =
        rows.iter().max_by(|a, b| a.samples_per_s.total_cmp(&b.samples_per_s)).expect("there are batches");
    let enough = rows.iter().find(|row| row.samples_per_s >= 0.9 * best.samples_per_s).unwrap_or(best);
    findings.remark(format!(
        "Nine tenths of the best throughput are reached with batches of {}, whose step takes {} us.",
        enough.batch,
        number(enough.latency_us)
    ));
    Ok(findings)
}

fn figure(rows: &[Row], batches: &[usize]) -> Figure {
    let x = || {
        let shown: Vec<usize> = batches.iter().copied().filter(|batch| batch.ilog2() % 2 == 0).collect();
        Axis::log("samples in a batch").ticks(at(&shown, |batch| batch as f64))
    };
    let panel = |caption: &str, y: Axis, point: &dyn Fn(&Row) -> [f64; 3]| {
        let points = rows.iter().map(|row| {
            let [y, low, high] = point(row);
            Point { x: row.batch as f64, y, low, high }
        });
        Lines::new(caption, x(), y).series(Series::new("", points.collect()))
    };
    Figure::new("Training a small network, by size of the batch", 2)
        .panel(panel("throughput", Axis::linear("samples/s"), &|row| {
            [row.samples_per_s, row.samples_per_s_low, row.samples_per_s_high]
        }))
        .panel(panel("latency of a single step", Axis::log("µs"), &|row| {
            [row.latency_us, row.latency_us_low, row.latency_us_high]
        }))
        .panel(panel("peak memory of arrays", Axis::log("MB (2^20 bytes)"), &|row| {
            [row.peak_mb, row.peak_mb_low, row.peak_mb_high]
        }))
        .panel(panel("loss after the same samples", Axis::linear("mean loss"), &|row| [row.loss; 3]))
}
