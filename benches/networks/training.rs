//! Samples per second of training the small network (conv 1->4 3x3, relu, max-pool 2, dense 10) on the embedded part of
//! Fashion-MNIST: forward, backward and update, with loss and accuracy.
//!
//! `cargo bench -p dahl-benches --bench training [-- WORKERS]`. Each figure is the median of several epochs after the first.

use dahl::prelude::*;
use dahl_nn::prelude::*;

const EPOCHS: usize = 6;

/// The median of the epochs' samples per second.
fn speed<T: Real>(workers: usize, batch_size: usize, data: &FashionMnist) -> dahl::Result<f64> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let arena = rt.arena();
    let model = Sequential::<T>::new(&arena, [1, 28, 28], 42).conv2d(4, 3)?.relu()?;
    let mut model = model.max_pool2d(2)?.flatten()?.dense(10)?;
    let trainer =
        Trainer::new(&mut model, CrossEntropy, Sgd::new(0.01)).batch_size(batch_size).epochs(EPOCHS);
    let history = trainer.fit(&data.train)?;
    let mut speeds: Vec<f64> = history.epochs[1..].iter().map(|epoch| epoch.samples_per_second).collect();
    speeds.sort_by(f64::total_cmp);
    Ok(speeds[speeds.len() / 2])
}

fn main() -> dahl::Result<()> {
    let workers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let workers = if workers.is_empty() { vec![1, 2] } else { workers };
    let data = FashionMnist::embedded()?;
    println!("{:<8} {:>6} {:>10} {:>10}", "workers", "batch", "f32", "f64");
    for &workers in &workers {
        for batch_size in [1, 10, 100, 500] {
            let (single, double) =
                (speed::<f32>(workers, batch_size, &data)?, speed::<f64>(workers, batch_size, &data)?);
            println!("{workers:<8} {batch_size:>6} {single:>10.0} {double:>10.0}");
        }
    }
    Ok(())
}
