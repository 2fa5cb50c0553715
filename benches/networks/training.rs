//! Samples per second of training the small network (conv 1->4 3x3, relu, max-pool 2, dense 10) on the embedded part of
//! Fashion-MNIST: forward, backward and update, with loss and accuracy.
//!
//! `cargo bench -p dahl-benches --bench training [-- WORKERS.. --batch N..]`. Each figure is the median of several epochs after the first.

use dahl::prelude::*;
use dahl_nn::prelude::*;
use lexopt::prelude::*;

const EPOCHS: usize = 6;

/// Rounds, in which submitted and replayed steps take turns.
const ROUNDS: usize = 5;

/// The median of the epochs' samples per second.
fn speed<T: Real>(
    rt: &Runtime,
    batch_size: usize,
    data: &FashionMnist,
    replays: bool,
    adam: bool,
) -> dahl::Result<f64> {
    let arena = rt.arena();
    let model = Sequential::<T>::new(&arena, [1, 28, 28], 42).conv2d(4, 3)?.relu()?;
    let mut model = model.max_pool2d(2)?.flatten()?.dense(10)?;
    let history = if adam {
        let trainer = Trainer::new(&mut model, CrossEntropy, AdamW::new(0.001)).replays(replays);
        trainer.batch_size(batch_size).epochs(EPOCHS).fit(&data.train)?
    } else {
        let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.01)).replays(replays);
        trainer.batch_size(batch_size).epochs(EPOCHS).fit(&data.train)?
    };
    Ok(median(history.epochs[1..].iter().map(|epoch| epoch.samples_per_second).collect()))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Samples per second of replayed steps, and how many times as fast they are as submitted ones.
fn compare<T: Real>(
    workers: usize,
    batch: usize,
    data: &FashionMnist,
    adam: bool,
) -> dahl::Result<(f64, f64)> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let (mut speeds, mut ratios) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let submitted = speed::<T>(&rt, batch, data, false, adam)?;
        let replayed = speed::<T>(&rt, batch, data, true, adam)?;
        speeds.push(replayed);
        ratios.push(replayed / submitted);
    }
    Ok((median(speeds), median(ratios)))
}

/// The numbers of workers and the batch sizes of the command line.
fn settings() -> Result<(Vec<usize>, Vec<usize>), lexopt::Error> {
    let (mut workers, mut batches) = (Vec::new(), Vec::new());
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(value) => workers.push(value.parse()?),
            Long("batch") => batches.push(parser.value()?.parse()?),
            Long("bench") => {}
            other => return Err(other.unexpected()),
        }
    }
    let or = |given: Vec<usize>, default: &[usize]| if given.is_empty() { default.to_vec() } else { given };
    Ok((or(workers, &[1, 2]), or(batches, &[1, 10, 100, 500])))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (workers, batches) = settings()?;
    let data = FashionMnist::embedded()?;
    println!("samples per second of replayed steps, and their speed relative to submitted ones");
    println!("{:<8} {:>6} {:>16} {:>16} {:>16}", "workers", "batch", "f32", "f64", "f32, AdamW");
    for &workers in &workers {
        for &batch_size in &batches {
            let cells = [
                compare::<f32>(workers, batch_size, &data, false)?,
                compare::<f64>(workers, batch_size, &data, false)?,
                compare::<f32>(workers, batch_size, &data, true)?,
            ];
            let cells = cells.map(|(speed, ratio)| format!("{speed:>10.0} {ratio:>5.2}"));
            println!("{workers:<8} {batch_size:>6} {}", cells.join(" "));
        }
    }
    Ok(())
}
