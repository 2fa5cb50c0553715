//! One task at a time on two workers: matrix products, convolutions and maps of small and large batches, with help and
//! without, and what the runtime chooses.
//!
//! `cargo bench -p dahl-benches --bench parallel_kernels [-- WORKERS]`. Times are medians, in microseconds.

use std::time::Instant;

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, TeamPolicy};

const TASKS: usize = 61;

/// A task on arrays of a batch.
type Program = fn(&Runtime, usize) -> Result<f64>;

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i * 7919 % 4001) as f32 / 1000.3 - 2.0).collect()
}

/// The median time from submission to end.
fn median_us(mut task: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..2 * TASKS {
        let begin = Instant::now();
        task()?;
        times.push(begin.elapsed().as_secs_f64() * 1e6);
    }
    let steady = &mut times[TASKS..];
    steady.sort_by(f64::total_cmp);
    Ok(steady[TASKS / 2])
}

fn product(rt: &Runtime, batch: usize) -> Result<f64> {
    let a = rt.from_vec([batch, 784], numbers(batch * 784))?;
    let b = rt.from_vec([784, 512], numbers(784 * 512))?;
    let mut out = rt.zeros::<f32, 2>([batch, 512])?;
    median_us(|| matmul(&a, &b, &mut out).and_then(|()| rt.wait()))
}

fn convolution(rt: &Runtime, batch: usize) -> Result<f64> {
    let images = rt.from_vec([batch, 1, 28, 28], numbers(batch * 784))?;
    let filters = rt.from_vec([8, 1, 5, 5], numbers(200))?;
    let mut out = rt.zeros::<f32, 4>([batch, 8, 28, 28])?;
    median_us(|| {
        conv2d(&images, &filters, &mut out, Conv2dGeometry::default().padding([2, 2]))
            .and_then(|()| rt.wait())
    })
}

fn map(rt: &Runtime, batch: usize) -> Result<f64> {
    let x = rt.from_vec([batch, 784], numbers(batch * 784))?;
    let mut out = rt.zeros::<f32, 2>([batch, 784])?;
    median_us(|| gelu(&x, &mut out).and_then(|()| rt.wait()))
}

fn main() -> Result<()> {
    let workers = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(2);
    println!("{:<10} {:>6} {:>12} {:>12} {:>12}  with a team", "op", "batch", "never", "always", "measured");
    let programs: [(&str, &str, Program); 3] =
        [("matmul", "matmul", product), ("conv2d", "conv2d", convolution), ("gelu", "gelu", map)];
    for (name, codelet, program) in programs {
        for batch in [1, 32, 500] {
            let mut times = Vec::new();
            let mut team = None;
            for teams in [TeamPolicy::Never, TeamPolicy::Always, TeamPolicy::Measured] {
                let rt = Runtime::builder().cpu_workers(workers).teams(teams).build()?;
                times.push(program(&rt, batch)?);
                let choices = rt.kernel_choices();
                team = choices.rows.iter().find(|row| row.codelet == codelet).and_then(|row| row.team);
            }
            let chosen = match team {
                Some(true) => "yes",
                Some(false) => "no",
                None => "not decided",
            };
            println!(
                "{name:<10} {batch:>6} {:>12.1} {:>12.1} {:>12.1}  {chosen}",
                times[0], times[1], times[2]
            );
        }
    }
    Ok(())
}
