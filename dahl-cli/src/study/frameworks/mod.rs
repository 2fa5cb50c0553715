//! Study: the same training in dahl and in PyTorch: time, energy, memory and loss.
//!
//! Both begin with the same weights and see the same images in the same order. Each training is a process of its own
//! (`process`), dahl's (`training`) as PyTorch's (`train.py`), so that memory and energy are those of one framework.
//! `benches/pytorch` compares more networks, element types and variants of PyTorch, for docs/performance.md.

mod process;
mod training;

use std::path::Path;

use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Bar, Bars, Figure, Lines, Point, Series, number};
use super::rounds::{Spread, in_turn};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;
use process::{Framework, Measured, Python};
use training::{Network, Training};

pub(super) const STUDY: Study = Study {
    name: "frameworks",
    question: "What does the same training take in dahl and in PyTorch?",
    time: Time::Real,
    rounds: 7,
    run,
};

const BATCH: usize = 64;
const RATE: f64 = 0.05;
const MIB: f64 = (1 << 20) as f64;

/// A training in a framework.
#[derive(Clone, Copy)]
struct Variant {
    network: Network,
    workers: usize,
    framework: Framework,
}

#[derive(Debug, Serialize)]
struct Row {
    network: &'static str,
    workers: usize,
    framework: &'static str,
    /// Of an epoch after the first.
    epoch_s: f64,
    epoch_s_low: f64,
    epoch_s_high: f64,
    /// Of the whole training, from the first batch on.
    training_s: f64,
    /// From the start of the process to the first batch.
    start_s: f64,
    /// The time of all processors in the training; empty if the system does not tell.
    processor_s: Option<f64>,
    /// Of the processors and the main memory in the training, whoever used them; empty if there is no counter.
    joules: Option<f64>,
    joules_low: Option<f64>,
    joules_high: Option<f64>,
    /// The most memory of the process; empty if the system does not tell.
    peak_mib: Option<f64>,
    /// The mean loss of the last epoch.
    loss: f64,
}

impl Row {
    fn epoch(&self) -> Spread {
        Spread { median: self.epoch_s, low: self.epoch_s_low, high: self.epoch_s_high }
    }
}

/// The loss of an epoch.
#[derive(Debug, Serialize)]
struct Loss {
    network: &'static str,
    workers: usize,
    framework: &'static str,
    epoch: usize,
    loss: f64,
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let (samples, epochs) = (session.either(6000, 256), session.either(6, 2));
    let folder = tempfile::tempdir().map_err(|error| Trouble::Failed(format!("a folder: {error}")))?;
    let python = Python::find(session.python(), folder.path())?;
    let most = session.settings.workers;
    for (name, value) in [("samples", samples), ("epochs", epochs), ("batch", BATCH)] {
        session.setting(name, value as i64);
    }
    session.setting("learning_rate", RATE);
    session
        .setting("pytorch", python.as_ref().map_or_else(|fact| format!("absent: {fact}"), Python::versions));
    let data = FashionMnist::embedded()?.train.limited(samples);
    training::write_data(&data, folder.path())?;
    for network in Network::ALL {
        network.save_weights(folder.path(), session.settings.seed)?;
    }
    let frameworks: Vec<Framework> = match &python {
        Ok(_) => vec![Framework::Dahl, Framework::PyTorch],
        Err(_) => vec![Framework::Dahl],
    };
    let mut variants = Vec::new();
    for network in Network::ALL {
        for workers in if most > 1 { vec![1, most] } else { vec![1] } {
            variants.extend(frameworks.iter().map(|&framework| Variant { network, workers, framework }));
        }
    }
    let training = |variant: &Variant| Training {
        network: variant.network,
        folder: folder.path().to_owned(),
        samples,
        batch: BATCH,
        epochs,
        rate: RATE,
        workers: variant.workers,
    };
    let name = |variant: &Variant| {
        format!("{} in {}, workers: {}", variant.network.name(), variant.framework.name(), variant.workers)
    };
    let measured = in_turn(session, "frameworks", &variants, name, |variant| {
        process::measure(&training(variant), variant.framework, python.as_ref().ok())
    })?;
    let rows: Vec<Row> =
        variants.iter().zip(&measured).map(|(variant, rounds)| row(variant, rounds)).collect();
    let losses: Vec<Loss> =
        variants.iter().zip(&measured).flat_map(|(variant, rounds)| losses_of(variant, &rounds[0])).collect();
    session.table("frameworks.csv", &rows)?;
    session.table("losses.csv", &losses)?;
    session.figure("frameworks.svg", &figure(&rows))?;
    session.figure("losses.svg", &losses_figure(&losses))?;
    let mut findings = findings(&rows, &losses);
    if let Err(fact) = &python {
        findings
            .remark(format!("PyTorch was not measured: {fact}. `--python PATH` names a Python that has it."));
    }
    if let Some(absence) = measured.iter().flatten().find_map(|measured| measured.energy.absence()) {
        findings.remark(format!("No energy was measured: {absence}."));
    }
    Ok(findings)
}

/// The spread of a figure, if all rounds have it.
fn spread(rounds: &[Measured], figure: impl Fn(&Measured) -> Option<f64>) -> Option<Spread> {
    Some(Spread::of(rounds.iter().map(figure).collect::<Option<Vec<_>>>()?))
}

fn row(variant: &Variant, rounds: &[Measured]) -> Row {
    let epoch = Spread::over(rounds, |measured| {
        let later = measured.epochs.get(1..).filter(|later| !later.is_empty()).unwrap_or(&measured.epochs);
        Spread::over(later, |epoch| epoch.seconds).median
    });
    let joules = spread(rounds, |measured| measured.energy.value());
    Row {
        network: variant.network.name(),
        workers: variant.workers,
        framework: variant.framework.name(),
        epoch_s: epoch.median,
        epoch_s_low: epoch.low,
        epoch_s_high: epoch.high,
        training_s: Spread::over(rounds, |measured| measured.training_s).median,
        start_s: Spread::over(rounds, |measured| measured.start_s).median,
        processor_s: spread(rounds, |measured| measured.processor_s).map(|spread| spread.median),
        joules: joules.map(|spread| spread.median),
        joules_low: joules.map(|spread| spread.low),
        joules_high: joules.map(|spread| spread.high),
        peak_mib: spread(rounds, |measured| Some(measured.peak_bytes? as f64 / MIB))
            .map(|spread| spread.median),
        loss: rounds[0].epochs.last().map_or(f64::NAN, |epoch| epoch.loss),
    }
}

fn losses_of(variant: &Variant, measured: &Measured) -> Vec<Loss> {
    let loss = |(index, epoch): (usize, &process::Epoch)| Loss {
        network: variant.network.name(),
        workers: variant.workers,
        framework: variant.framework.name(),
        epoch: index + 1,
        loss: epoch.loss,
    };
    measured.epochs.iter().enumerate().map(loss).collect()
}

fn figure(rows: &[Row]) -> Figure {
    let bars = |title: &str, axis: &str, value: &dyn Fn(&Row) -> Option<Spread>| {
        let mut bars = Bars::new(title, Axis::linear(axis));
        for row in rows {
            let Some(Spread { median, low, high }) = value(row) else { continue };
            let label = match row.framework {
                "dahl" => format!("{}, {}", row.network, row.workers),
                _ => String::new(),
            };
            bars = bars.bar(Bar::new(label, row.framework, median).spread(low, high));
        }
        bars
    };
    let peak = |row: &Row| row.peak_mib.map(|mib| Spread { median: mib, low: mib, high: mib });
    let mut figure = Figure::new("The same training in dahl and in PyTorch: network, workers", 2)
        .panel(bars("an epoch", "time (s)", &|row| Some(row.epoch())))
        .panel(bars("memory of the process", "peak (MiB)", &peak));
    if rows.iter().any(|row| row.joules.is_some()) {
        let joules =
            |row: &Row| Some(Spread { median: row.joules?, low: row.joules_low?, high: row.joules_high? });
        figure = figure.panel(bars("energy of the training", "energy (J)", &joules));
    }
    figure
}

fn losses_figure(losses: &[Loss]) -> Figure {
    let most = losses.iter().map(|loss| loss.workers).max().unwrap_or(1);
    let mut figure = Figure::new("Mean loss by epoch", 2);
    for network in Network::ALL {
        let mut lines = Lines::new(network.name(), Axis::linear("epoch"), Axis::linear("loss").near_data());
        for framework in [Framework::Dahl, Framework::PyTorch] {
            let own = losses.iter().filter(|loss| {
                (loss.network, loss.framework, loss.workers) == (network.name(), framework.name(), most)
            });
            let points: Vec<Point> = own.map(|loss| Point::exact(loss.epoch as f64, loss.loss)).collect();
            if !points.is_empty() {
                lines = lines.series(Series::new(framework.name(), points));
            }
        }
        figure = figure.panel(lines);
    }
    figure
}

fn findings(rows: &[Row], losses: &[Loss]) -> Findings {
    let mut findings = Findings::new([
        "network",
        "workers",
        "framework",
        "epoch, s",
        "start, s",
        "processors, s",
        "energy, J",
        "peak, MiB",
        "last loss",
    ]);
    let or_absent = |value: Option<f64>| value.map_or("-".to_owned(), number);
    for row in rows {
        findings.row([
            row.network.to_owned(),
            row.workers.to_string(),
            row.framework.to_owned(),
            format!("{:.3}", row.epoch_s),
            format!("{:.2}", row.start_s),
            row.processor_s.map_or("-".to_owned(), |seconds| format!("{seconds:.2}")),
            or_absent(row.joules),
            or_absent(row.peak_mib),
            format!("{:.5}", row.loss),
        ]);
    }
    for pair in rows.chunk_by(|one, two| (one.network, one.workers) == (two.network, two.workers)) {
        let [own, other] = pair else { continue };
        let fact = if own.epoch().is_apart(&other.epoch()) {
            format!("an epoch in PyTorch takes {:.2} times that in dahl", other.epoch_s / own.epoch_s)
        } else {
            "the times of an epoch are within the spread".to_owned()
        };
        findings.remark(format!("{}, workers: {}: {fact}.", own.network, own.workers));
    }
    if let Some(apart) = furthest_apart(losses) {
        findings.remark(format!("Losses by epoch differ by at most {apart:.1e} of their value."));
    }
    findings
}

/// How far the losses of both are apart at most, relative to PyTorch's; none without both.
fn furthest_apart(losses: &[Loss]) -> Option<f64> {
    let of = |framework: Framework| losses.iter().filter(move |loss| loss.framework == framework.name());
    let apart = of(Framework::Dahl).filter_map(|own| {
        let same = |other: &&Loss| {
            (other.network, other.workers, other.epoch) == (own.network, own.workers, own.epoch)
        };
        let other = of(Framework::PyTorch).find(same)?;
        Some((own.loss - other.loss).abs() / other.loss.abs())
    });
    apart.reduce(f64::max)
}

/// Reads the settings of a training from a file, and trains in dahl: a process of the study.
pub(super) fn train_alone(settings: &Path) -> Result<(), Trouble> {
    let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", settings.display()));
    let text = std::fs::read_to_string(settings).map_err(|error| wrong(error.to_string()))?;
    training::train(&serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?)
}

#[cfg(test)]
mod tests {
    use super::{Framework, Loss, furthest_apart};

    #[test]
    fn losses_are_compared_epoch_by_epoch() {
        let loss = |framework: Framework, epoch, loss| Loss {
            network: "mlp",
            workers: 1,
            framework: framework.name(),
            epoch,
            loss,
        };
        let mut losses = vec![loss(Framework::Dahl, 1, 1.0), loss(Framework::Dahl, 2, 0.6)];
        assert_eq!(furthest_apart(&losses), None, "there is nothing to compare with");
        losses.extend([loss(Framework::PyTorch, 1, 1.0), loss(Framework::PyTorch, 2, 0.5)]);
        let apart = furthest_apart(&losses).expect("both are there");
        assert!((apart - 0.2).abs() < 1e-12, "{apart}");
    }
}
