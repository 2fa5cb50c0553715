//! Study: costs and benefits of the batch size.
//!
//! * Throughput: samples a second over many steps, which follow each other without waiting.
//! * Latency: the duration of a single step, from its submission until its loss is known.
//! * Memory: the largest amount of memory reserved for arrays, in a single step, and in many: the trainer has as many
//!   steps in flight as keep workers busy, fewer where their activations would take much memory.
//! * Loss: the mean over the samples of the last epoch. Each size sees the same samples, so a larger one updates less
//!   often.

use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, at, number};
use super::programs::{Cnn, First, unchecked};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "batch-size",
    question: "What do larger batches bring in throughput, and cost in latency, memory and loss?",
    time: Time::Real,
    rounds: 11,
    run,
};

const FILTERS: usize = 8;
/// The number of single steps whose mean is the latency.
const STEPS: usize = 8;
const MB: f64 = (1 << 20) as f64;

struct Round {
    samples_per_s: f64,
    latency_us: f64,
    peak_bytes: usize,
    step_bytes: usize,
    loss: f64,
}

fn measure(
    session: &Session<'_>,
    data: &FashionMnist,
    samples: usize,
    batch: usize,
) -> Result<Round, Trouble> {
    let rt = unchecked().cpu_workers(session.settings.workers).build()?;
    let cnn = Cnn::new(FILTERS, batch, session.settings.seed);
    let trained = cnn.train::<f32>(&rt, &First::new(&data.train, samples))?;
    let peak_bytes = rt.memory()[0].peak_bytes;
    // One batch per epoch: the next one begins when its loss is known.
    let rt = unchecked().cpu_workers(session.settings.workers).build()?;
    let single = Cnn { epochs: STEPS, ..cnn }.train::<f32>(&rt, &First::new(&data.train, batch))?;
    Ok(Round {
        samples_per_s: samples as f64 / (trained.ns as f64 / 1e9),
        latency_us: single.ns as f64 / 1e3 / STEPS as f64,
        peak_bytes,
        step_bytes: rt.memory()[0].peak_bytes,
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
    step_mb: f64,
    step_mb_low: f64,
    step_mb_high: f64,
    loss: f64,
}

impl Row {
    fn speed(&self) -> Spread {
        Spread { median: self.samples_per_s, low: self.samples_per_s_low, high: self.samples_per_s_high }
    }

    fn new(batch: usize, rounds: &[Round]) -> Self {
        let speed = Spread::over(rounds, |round| round.samples_per_s);
        let latency = Spread::over(rounds, |round| round.latency_us);
        let peak = Spread::over(rounds, |round| round.peak_bytes as f64 / MB);
        let step = Spread::over(rounds, |round| round.step_bytes as f64 / MB);
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
            step_mb: step.median,
            step_mb_low: step.low,
            step_mb_high: step.high,
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

    let mut findings = Findings::new([
        "batch",
        "samples/s",
        "latency of a step, us",
        "memory of a step, MB",
        "of many, MB",
        "loss",
    ]);
    for row in &rows {
        findings.row([
            row.batch.to_string(),
            number(row.samples_per_s),
            number(row.latency_us),
            format!("{:.1}", row.step_mb),
            format!("{:.1}", row.peak_mb),
            format!("{:.3}", row.loss),
        ]);
    }
    findings.remark(conclusion(&rows));
    Ok(findings)
}

/// The smallest batch that is as fast as the best one, within the spread of the rounds.
fn conclusion(rows: &[Row]) -> String {
    let best =
        rows.iter().max_by(|a, b| a.samples_per_s.total_cmp(&b.samples_per_s)).expect("there are batches");
    let enough = rows.iter().position(|row| !row.speed().is_apart(&best.speed())).unwrap_or(0);
    if enough == 0 {
        return "The differences in throughput from the best are within the spread.".to_owned();
    }
    let enough = &rows[enough];
    format!(
        "All batches smaller than {} have less throughput than the best, those of {}; a step of {} takes {} us.",
        enough.batch,
        best.batch,
        enough.batch,
        number(enough.latency_us)
    )
}

fn figure(rows: &[Row], batches: &[usize]) -> Figure {
    let x = || {
        let shown: Vec<usize> = batches.iter().copied().filter(|batch| batch.ilog2() % 2 == 0).collect();
        Axis::log("samples in a batch").ticks(at(&shown, |batch| batch as f64))
    };
    let series = |name: &str, point: &dyn Fn(&Row) -> [f64; 3]| {
        let points = rows.iter().map(|row| {
            let [y, low, high] = point(row);
            Point { x: row.batch as f64, y, low, high }
        });
        Series::new(name, points.collect())
    };
    let speed = series(MANY, &|row| [row.samples_per_s, row.samples_per_s_low, row.samples_per_s_high]);
    let latency = series(SINGLE, &|row| [row.latency_us, row.latency_us_low, row.latency_us_high]);
    let peak = series(MANY, &|row| [row.peak_mb, row.peak_mb_low, row.peak_mb_high]);
    let step = series(SINGLE, &|row| [row.step_mb, row.step_mb_low, row.step_mb_high]);
    let memory = Lines::new("peak memory of arrays", x(), Axis::log("MB (2^20 bytes)"));
    Figure::new("Training a small network, by size of the batch", 2)
        .panel(Lines::new("throughput", x(), Axis::linear("samples/s")).series(speed))
        .panel(Lines::new("latency", x(), Axis::log("µs")).series(latency))
        .panel(memory.series(peak).series(step))
        .panel(
            Lines::new("loss after the same samples", x(), Axis::linear("mean loss"))
                .series(series(MANY, &|row| [row.loss; 3])),
        )
}

/// The legend's name for steps that follow each other without waiting.
const MANY: &str = "many steps";
/// The legend's name for steps that the program waits for.
const SINGLE: &str = "a single step";

#[cfg(test)]
mod tests {
    use super::*;

    fn row(batch: usize, speeds: [f64; 3]) -> Row {
        let rounds = speeds.map(|samples_per_s| Round {
            samples_per_s,
            latency_us: 100.0,
            peak_bytes: 0,
            step_bytes: 0,
            loss: 0.0,
        });
        Row::new(batch, &rounds)
    }

    #[test]
    fn nothing_is_concluded_from_quartiles_that_overlap() {
        let noise = [row(1, [100.0, 200.0, 300.0]), row(2, [150.0, 250.0, 350.0])];
        assert!(conclusion(&noise).contains("within the spread"), "{}", conclusion(&noise));
        let clear = [row(1, [10.0, 11.0, 12.0]), row(2, [20.0, 21.0, 22.0]), row(4, [20.0, 21.5, 22.0])];
        let text = conclusion(&clear);
        assert!(text.contains("smaller than 2") && text.contains("those of 4"), "{text}");
    }
}
