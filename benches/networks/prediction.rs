//! How far off the expected durations of tasks are when the small network (conv 1->4 3x3, relu, max-pool 2, dense 10) is
//! trained on the embedded part of Fashion-MNIST: `|expected - taken| / taken`, in real time.
//!
//! `cargo bench -p dahl-benches --bench prediction [-- WORKERS]`. With `DAHL_PERF_DIR` the second run begins with what the
//! first one measured.

use dahl::prelude::*;
use dahl_nn::prelude::*;

const EPOCHS: usize = 3;

fn percent(part: Option<f64>) -> String {
    part.map_or("-".to_owned(), |part| format!("{:.1} %", 100.0 * part))
}

fn train(workers: usize, batch_size: usize, data: &FashionMnist) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(workers).build()?;
    let arena = rt.arena();
    let model = Sequential::<f32>::new(&arena, [1, 28, 28], 42).conv2d(4, 3)?.relu()?;
    let mut model = model.max_pool2d(2)?.flatten()?.dense(10)?;
    Trainer::new(&mut model, CrossEntropy, Sgd::new(0.01))
        .batch_size(batch_size)
        .epochs(EPOCHS)
        .fit(&data.train)?;
    rt.wait()?;
    let errors = rt.prediction_error();
    println!("\n{workers} workers, batches of {batch_size}");
    println!(
        "{:<28} {:>9} {:>9} {:>9} {:>10} {:>11}",
        "codelet", "tasks", "median", "9 of 10", "of others", "unexpected"
    );
    let codelets = errors.codelets.iter().map(|row| (row.codelet.as_str(), row.error));
    for (codelet, error) in codelets.chain([("all", errors.overall)]) {
        println!(
            "{codelet:<28} {:>9} {:>9} {:>9} {:>10} {:>11}",
            error.count,
            percent(error.median),
            percent(error.ninth_decile),
            error.extrapolated,
            error.unexpected
        );
    }
    let mut histories = rt.performance_models();
    histories.sort_by(|a, b| (b.mean_us * b.count as f64).total_cmp(&(a.mean_us * a.count as f64)));
    println!(
        "{:<28} {:>9} {:>10} {:>10} {:>10} {:>10}",
        "longest", "tasks", "median us", "spread", "mean", "first"
    );
    for row in histories.iter().take(6) {
        println!(
            "{:<28} {:>9} {:>10.2} {:>10.2} {:>10.2} {:>10.2}",
            row.codelet,
            row.count,
            row.median_us,
            row.spread_us,
            row.mean_us,
            row.first_us.unwrap_or(f64::NAN)
        );
    }
    Ok(())
}

fn main() -> dahl::Result<()> {
    let workers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let workers = if workers.is_empty() { vec![1, 2] } else { workers };
    let data = FashionMnist::embedded()?;
    for &workers in &workers {
        for batch_size in [10, 100, 500] {
            train(workers, batch_size, &data)?;
        }
    }
    Ok(())
}
