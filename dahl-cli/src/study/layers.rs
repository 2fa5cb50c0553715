//! Study: which layers a device runs faster than a CPU worker, by batch size.
//!
//! The machine is simulated: a CPU worker, and a device that computes 20 times and moves bytes 50 times as fast, but
//! takes five times as long to begin a task, behind a link. Each layer runs forward and backward on either worker, and
//! the performance models give the durations of its tasks there. With transfers, its input, output and their gradients
//! are copied over the link, as they are when the neighbouring layers run on the CPU: their times are those of
//! `Runtime::transfer_times`.

use std::collections::BTreeMap;

use dahl::Speed;
use dahl::prelude::*;
use dahl_nn::prelude::*;
use serde::Serialize;

use super::findings::Findings;
use super::plot::{Axis, Figure, Lines, Point, Series, at};
use super::programs::{DEVICE, Pinned, beside_cpu, unchecked};
use super::session::Session;
use super::{Study, Time};
use crate::trouble::Trouble;

pub(super) const STUDY: Study = Study {
    name: "layers",
    question: "Which layers are faster on a device than on a CPU worker, and from which batch on?",
    time: Time::Virtual,
    rounds: 1,
    run,
};

const CPU: Speed =
    Speed { gflops: 50.0, gbytes_per_s: 10.0, overhead_us: 1.0, co_running: 0.0, codelets: BTreeMap::new() };
const GPU: Speed = Speed {
    gflops: 1000.0,
    gbytes_per_s: 500.0,
    overhead_us: 5.0,
    co_running: 0.0,
    codelets: BTreeMap::new(),
};
const LATENCY_US: f64 = 10.0;
const LINK_GBYTES_PER_S: f64 = 12.0;

/// The layers: their names, and the shape of a sample's input.
const LAYERS: [(&str, &[usize]); 7] = [
    ("conv 1->8, 3x3", &[1, 28, 28]),
    ("conv 8->16, 3x3", &[8, 13, 13]),
    ("relu", &[8, 26, 26]),
    ("max-pool 2", &[8, 26, 26]),
    ("avg-pool 2", &[8, 26, 26]),
    ("dense 1352->10", &[1352]),
    ("dense 512->512", &[512]),
];

/// A layer by its place in [`LAYERS`], as a model.
fn layer<'m>(arena: &'m Arena, index: usize, seed: u64) -> dahl::Result<Sequential<'m, f32>> {
    let (name, input) = LAYERS[index];
    let images = || Sequential::new(arena, [input[0], input[1], input[2]], seed);
    match name {
        "conv 1->8, 3x3" => images().conv2d(8, 3),
        "conv 8->16, 3x3" => images().conv2d(16, 3),
        "relu" => images().relu(),
        "max-pool 2" => images().max_pool2d(2),
        "avg-pool 2" => images().avg_pool2d(2),
        "dense 1352->10" => Sequential::new(arena, [input[0]], seed).dense(10),
        _ => Sequential::new(arena, [input[0]], seed).dense(512),
    }
}

/// Computes the gradients by the input and by the parameters, of a loss whose gradient by the output is zero: its tasks take
/// as long as any.
fn backward(
    step: &Step<'_>,
    layer: &Sequential<'_, f32>,
    input: &Matrix<f32>,
    output: &Matrix<f32>,
) -> dahl::Result<()> {
    let Some(tape) = step.tape() else { return Ok(()) };
    let gradient = step.detached().zeros(output.shape())?;
    let parameters: Vec<_> = layer.parameters().collect();
    match &parameters[..] {
        [weight, bias] => {
            tape.gradients_from(output, &gradient, (input, &weight.value, &bias.value)).map(drop)
        }
        _ => tape.gradients_from(output, &gradient, input).map(drop),
    }
}

/// The times of a layer, in microseconds.
struct Times {
    /// The time of its tasks, on each worker.
    cpu_us: f64,
    device_us: f64,
    /// The transfers of its inputs to the device, and of its outputs back.
    transfers_us: f64,
    tasks: u64,
}

/// The duration of the layer's tasks on worker `worker` by the performance models, their number, and the duration of
/// the transfers.
fn measure(index: usize, batch: usize, worker: usize, seed: u64) -> Result<(f64, u64, f64), Trouble> {
    let machine = beside_cpu(CPU, GPU, LATENCY_US, LINK_GBYTES_PER_S);
    let builder = unchecked().cpu_workers(1).virtual_machine(machine);
    let rt = builder.custom_scheduler(Pinned::to(worker)).build()?;
    let arena = rt.arena();
    let layer = layer(&arena, index, seed)?;
    let input: Matrix<f32> = arena.zeros([batch, LAYERS[index].1.iter().product()])?;
    rt.wait()?;
    let before = tasks_of(&rt);
    let step = Step::learning(&rt);
    let output = layer.forward(&step, &input)?;
    backward(&step, &layer, &input, &output)?;
    rt.wait()?;
    let (mut us, mut tasks) = (0.0, 0);
    for history in rt.performance_models() {
        let key = (
            history.module.clone(),
            history.codelet.clone(),
            history.kernel.clone(),
            history.footprint.clone(),
        );
        let count = history.count - before.get(&key).copied().unwrap_or(0);
        us += history.median_us * count as f64;
        tasks += count;
    }
    let transfer_us = |bytes: usize| {
        let way = rt.transfer_times().into_iter().find(|time| time.from == 0).expect("there is a link");
        way.latency_us + bytes as f64 / way.gbytes_per_s / 1e3
    };
    let transfers = 2.0 * (transfer_us(bytes(input.shape())) + transfer_us(bytes(output.shape())));
    Ok((us, tasks, transfers))
}

fn bytes(shape: [usize; 2]) -> usize {
    shape[0] * shape[1] * size_of::<f32>()
}

/// The key of a history: module, codelet, kernel and footprint.
type Key = (String, String, String, Vec<Vec<usize>>);

/// The number of tasks that the models already have.
fn tasks_of(rt: &Runtime) -> BTreeMap<Key, u64> {
    let histories = rt.performance_models().into_iter();
    histories
        .map(|history| ((history.module, history.codelet, history.kernel, history.footprint), history.count))
        .collect()
}

fn times(index: usize, batch: usize, seed: u64) -> Result<Times, Trouble> {
    let (cpu_us, tasks, transfers_us) = measure(index, batch, 0, seed)?;
    let (device_us, _, _) = measure(index, batch, 1, seed)?;
    Ok(Times { cpu_us, device_us, transfers_us, tasks })
}

#[derive(Debug, Serialize)]
struct Row {
    layer: &'static str,
    batch: usize,
    tasks: u64,
    cpu_us: f64,
    device_us: f64,
    transfers_us: f64,
    /// The speedup of the device, without its transfers.
    speedup: f64,
    /// The speedup with its transfers.
    speedup_with_transfers: f64,
}

fn run(session: &mut Session<'_>) -> Result<Findings, Trouble> {
    let batches: &[usize] = session.either(&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], &[1, 16]);
    session
        .setting("device", format!("{DEVICE}: {GPU:?}, {LATENCY_US} us and {LINK_GBYTES_PER_S} GB/s away"));
    session.setting("cpu", format!("{CPU:?}"));
    let progress = session.progress(LAYERS.len() * batches.len(), "layers");
    let mut rows = Vec::new();
    for (index, (layer, _)) in LAYERS.into_iter().enumerate() {
        for &batch in batches {
            progress.begin(format!("{layer}, {batch} samples"));
            let Times { cpu_us, device_us, transfers_us, tasks } =
                times(index, batch, session.settings.seed)?;
            let speedup_with_transfers = cpu_us / (device_us + transfers_us);
            let speedup = cpu_us / device_us;
            rows.push(Row {
                layer,
                batch,
                tasks,
                cpu_us,
                device_us,
                transfers_us,
                speedup,
                speedup_with_transfers,
            });
            progress.done();
        }
    }
    session.table("layers.csv", &rows)?;
    session.figure("layers.svg", &figure(&rows, batches))?;

    let mut findings = Findings::new([
        "layer",
        "device faster from batch",
        "with transfers",
        "times as fast at the largest",
        "with transfers ",
    ]);
    for (layer, _) in LAYERS {
        let of_layer = || rows.iter().filter(|row| row.layer == layer);
        let last = of_layer().next_back().expect("there are batches");
        findings.row([
            layer.to_owned(),
            faster_from(of_layer(), |row| row.speedup),
            faster_from(of_layer(), |row| row.speedup_with_transfers),
            format!("{:.1}", last.speedup),
            format!("{:.1}", last.speedup_with_transfers),
        ]);
    }
    Ok(findings)
}

/// The smallest batch from which on the device is faster; rows are sorted by batch size.
fn faster_from<'r>(rows: impl Iterator<Item = &'r Row>, speedup: fn(&Row) -> f64) -> String {
    let mut from = None;
    for row in rows {
        from = if speedup(row) > 1.0 { from.or(Some(row.batch)) } else { None };
    }
    from.map_or("never".to_owned(), |batch| batch.to_string())
}

fn figure(rows: &[Row], batches: &[usize]) -> Figure {
    let ends = vec![(batches[0] as f64, 1.0), (batches[batches.len() - 1] as f64, 1.0)];
    let panel = |caption: &str, speedup: &dyn Fn(&Row) -> f64| {
        let shown: Vec<usize> = batches.iter().copied().filter(|batch| batch.ilog2() % 2 == 0).collect();
        let x = Axis::log("samples in a batch").ticks(at(&shown, |batch| batch as f64));
        let mut lines = Lines::new(caption, x, Axis::log("times as fast as a CPU worker"));
        for (layer, _) in LAYERS {
            let of_layer = rows.iter().filter(|row| row.layer == layer);
            let points = of_layer.map(|row| Point::exact(row.batch as f64, speedup(row)));
            lines = lines.series(Series::new(layer, points.collect()));
        }
        lines.guide("as fast", ends.clone())
    };
    Figure::new("Layers on a device, forward and backward, simulated", 2)
        .panel(panel("its tasks alone", &|row| row.speedup))
        .panel(panel("with transfers from and to the CPU", &|row| row.speedup_with_transfers))
}
