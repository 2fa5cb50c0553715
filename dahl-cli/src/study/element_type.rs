//! Study: costs and benefits of the element type.
//!
//! The same network is trained on the same samples in f16, bf16, f32 and f64. Products and sums of f16 and bf16 are
//! computed in f32, and rounded when they are stored.

use dahl::prelude::*;
use dahl::{bf16, f16};
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure, Lines, Point, Series, at, number};
use super::programs::{Cnn, First, unchecked};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "element-type",
    question: "What do f16, bf16, f32 and f64 differ in: time, memory, and the loss in the end?",
    time: Time::Real,
    rounds: 11,
    run,
};

const FILTERS: usize = 8;
const BATCH: usize = 64;
const TYPES: [&str; 4] = ["f16", "bf16", "f32", "f64"];

struct Round {
    samples_per_s: f64,
    /// The bytes of a single step. With many steps, as many are in flight as fit into a limit that is the same for all
    /// types.
    step_bytes: usize,
    losses: Vec<f64>,
    accuracy: f64,
}

fn measure<T: Real>(session: &Session<'_>, data: &First<'_>, epochs: usize) -> Result<Round, Trouble> {
    let rt = unchecked().cpu_workers(session.settings.workers).build()?;
    let trained = Cnn { epochs, ..Cnn::new(FILTERS, BATCH, session.settings.seed) }.train::<T>(&rt, data)?;
    let alone = unchecked().cpu_workers(session.settings.workers).build()?;
    Cnn::new(FILTERS, BATCH, session.settings.seed).train::<T>(&alone, &data.first(BATCH))?;
    Ok(Round {
        samples_per_s: (epochs * data.len()) as f64 / (trained.ns as f64 / 1e9),
        step_bytes: alone.memory()[0].peak_bytes,
        losses: trained.losses,
        accuracy: trained.accuracy,
    })
}

#[derive(Debug, Serialize)]
struct Row {
    element: &'static str,
    samples_per_s: f64,
    samples_per_s_low: f64,
    samples_per_s_high: f64,
    step_mb: f64,
    step_mb_low: f64,
    step_mb_high: f64,
    /// The loss of the last epoch.
    loss: f64,
    accuracy: f64,
}

#[derive(Debug, Serialize)]
struct Loss {
    element: &'static str,
    epoch: usize,
    loss: f64,
    /// Its difference from that in f64, relative to that.
    from_f64: f64,
}

impl Row {
    fn speed(&self) -> Spread {
        Spread { median: self.samples_per_s, low: self.samples_per_s_low, high: self.samples_per_s_high }
    }

    fn new(element: &'static str, rounds: &[Round]) -> Self {
        let speed = Spread::over(rounds, |round| round.samples_per_s);
        let peak = Spread::over(rounds, |round| round.step_bytes as f64 / f64::from(1 << 20));
        Self {
            element,
            samples_per_s: speed.median,
            samples_per_s_low: speed.low,
            samples_per_s_high: speed.high,
            step_mb: peak.median,
            step_mb_low: peak.low,
            step_mb_high: peak.high,
            loss: rounds[0].losses.last().copied().unwrap_or(f64::NAN),
            accuracy: rounds[0].accuracy,
        }
    }
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let data = FashionMnist::embedded()?;
    let samples: usize = session.either(2048, 128);
    let epochs: usize = session.either(4, 2);
    let data = First::new(&data.train, samples);
    session.setting("samples", samples as i64);
    session.setting("epochs", epochs as i64);
    session.setting("batch", BATCH as i64);
    session.setting("filters", FILTERS as i64);
    let name = |element: &&str| (*element).to_owned();
    let measured = in_turn(session, "element-type", &TYPES, name, |&element| match element {
        "f16" => measure::<f16>(session, &data, epochs),
        "bf16" => measure::<bf16>(session, &data, epochs),
        "f32" => measure::<f32>(session, &data, epochs),
        _ => measure::<f64>(session, &data, epochs),
    })?;
    if let Some(element) = TYPES
        .iter()
        .zip(&measured)
        .find(|(_, rounds)| rounds.iter().any(|round| round.losses != rounds[0].losses))
    {
        return Err(Trouble::Failed(format!("the losses in {} differ from round to round", element.0)));
    }
    let rows: Vec<Row> =
        TYPES.iter().zip(&measured).map(|(element, rounds)| Row::new(element, rounds)).collect();
    let double = &measured[TYPES.len() - 1][0].losses;
    let losses =
        TYPES.iter().zip(&measured).flat_map(|(element, rounds)| losses(element, &rounds[0].losses, double));
    let losses: Vec<Loss> = losses.collect();
    session.table("element-type.csv", &rows)?;
    session.table("losses.csv", &losses)?;
    session.figure("element-type.svg", &figure(&rows, &losses))?;

    let single = rows.iter().find(|row| row.element == "f32").expect("f32 is one of the types");
    let mut findings =
        Findings::new(["type", "samples/s", "of f32", "memory of a step, MB", "loss", "accuracy"]);
    for row in &rows {
        findings.row([
            row.element.to_owned(),
            number(row.samples_per_s),
            format!("{:.2}", row.samples_per_s / single.samples_per_s),
            format!("{:.1}", row.step_mb),
            format!("{:.5}", row.loss),
            format!("{:.1} %", 100.0 * row.accuracy),
        ]);
    }
    findings.remark(conclusion(&rows, single));
    findings.remark("Every round had the same losses, to the last bit.");
    Ok(findings)
}

/// The types that are faster or slower than f32, beyond the spread of the rounds.
fn conclusion(rows: &[Row], single: &Row) -> String {
    let against = |row: &Row| {
        let words = match row.samples_per_s < single.samples_per_s {
            _ if !row.speed().is_apart(&single.speed()) => "within the spread",
            true => "slower",
            false => "faster",
        };
        format!("{} {words}", row.element)
    };
    let others: Vec<String> = rows.iter().filter(|row| row.element != single.element).map(against).collect();
    format!("Throughput, against f32: {}.", others.join(", "))
}

fn losses(element: &'static str, losses: &[f64], double: &[f64]) -> Vec<Loss> {
    let loss = |(epoch, (&loss, &double)): (usize, (&f64, &f64))| Loss {
        element,
        epoch,
        loss,
        from_f64: (loss - double).abs() / double,
    };
    (1..).zip(losses.iter().zip(double)).map(loss).collect()
}

fn figure(rows: &[Row], losses: &[Loss]) -> Figure {
    let mut speeds = Bars::new("throughput", Axis::linear("samples/s"));
    let mut peaks = Bars::new("peak memory of a step", Axis::linear("MB (2^20 bytes)"));
    let mut lines = Lines::new("loss", epochs(losses), Axis::linear("mean loss").near_data());
    let mut far =
        Lines::new("distance of the loss from that in f64", epochs(losses), Axis::log("of the loss"));
    for row in rows {
        let speed = Bar::new(row.element, row.element, row.samples_per_s);
        speeds = speeds.bar(speed.spread(row.samples_per_s_low, row.samples_per_s_high));
        let peak = Bar::new(row.element, row.element, row.step_mb);
        peaks = peaks.bar(peak.spread(row.step_mb_low, row.step_mb_high));
        let points = |figure: &dyn Fn(&Loss) -> f64| {
            let of_type = losses.iter().filter(|loss| loss.element == row.element);
            let points = of_type.map(|loss| Point::exact(loss.epoch as f64, figure(loss)));
            Series::new(row.element, points.collect())
        };
        lines = lines.series(points(&|loss| loss.loss));
        if row.element != "f64" {
            far = far.series(points(&|loss| loss.from_f64));
        }
    }
    Figure::new("Training a small network, by element type", 2)
        .panel(speeds)
        .panel(peaks)
        .panel(lines)
        .panel(far)
}

fn epochs(losses: &[Loss]) -> Axis {
    let last = losses.iter().map(|loss| loss.epoch).max().unwrap_or(1);
    let epochs: Vec<usize> = (1..=last).collect();
    Axis::linear("epoch").near_data().ticks(at(&epochs, |epoch| epoch as f64))
}
