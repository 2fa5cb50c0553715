//! What it costs to have more workers than cores: the throughput of tasks of some 100 us by 64 workers, against that by 2.
//!
//! `cargo bench -p dahl-benches --bench many_workers [-- WORKERS..]`. A task computes for so long on one core, so that its time does not
//! pass while others have the core. Numbers of workers take turns; each figure is the median of the rounds.

use std::time::Instant;

use dahl::Result;
use dahl::prelude::*;

/// Tasks of a round, and arrays that they change in turn: as many tasks as arrays can run side by side.
const TASKS: usize = 4_000;
const ARRAYS: usize = 256;
const ROUNDS: usize = 9;
const SECONDS: f64 = 100e-6;

/// `rounds` steps of a linear congruential generator for each element: its time depends on `rounds` alone.
#[codelet(RW)]
fn work(x: &mut [u32], rounds: u64) {
    for x in x {
        for _ in 0..rounds {
            *x = std::hint::black_box(x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        }
    }
}

/// How many rounds fill the seconds, by the fastest of several measurements.
fn calibrated(rt: &Runtime) -> Result<u64> {
    const ROUNDS: u64 = 1_000_000;
    let mut x = rt.zeros::<u32, 1>([1])?;
    let mut fastest = f64::INFINITY;
    for _ in 0..20 {
        rt.wait()?;
        let start = Instant::now();
        work(&mut x, ROUNDS)?;
        rt.wait()?;
        fastest = fastest.min(start.elapsed().as_secs_f64());
    }
    Ok((ROUNDS as f64 * SECONDS / fastest) as u64)
}

/// Tasks per second.
fn throughput(rt: &Runtime, arrays: &mut [Vector<'static, u32>], rounds: u64) -> Result<f64> {
    let start = Instant::now();
    for task in 0..TASKS {
        work(&mut arrays[task % ARRAYS], rounds)?;
    }
    rt.wait()?;
    Ok(TASKS as f64 / start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<()> {
    let given: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let counts = if given.is_empty() { vec![2, 4, 16, 64] } else { given };
    let mut measured = vec![Vec::new(); counts.len()];
    let runtimes: Vec<_> =
        counts.iter().map(|&count| Runtime::builder().cpu_workers(count).build()).collect::<Result<_>>()?;
    let mut arrays = Vec::new();
    for rt in &runtimes {
        arrays.push((0..ARRAYS).map(|_| rt.zeros([1])).collect::<Result<Vec<_>>>()?);
    }
    let rounds = calibrated(&runtimes[0])?;
    for round in 0..=ROUNDS {
        for turn in 0..counts.len() {
            let place = (turn + round) % counts.len();
            let speed = throughput(&runtimes[place], &mut arrays[place], rounds)?;
            // The first round warms up.
            if round > 0 {
                measured[place].push(speed);
            }
        }
    }
    println!("{TASKS} tasks of {rounds} rounds, medians of {ROUNDS} rounds in turn");
    println!("| workers | tasks/s | of that of {} |\n|---:|---:|---:|", counts[0]);
    for (count, speeds) in counts.iter().zip(&measured) {
        let ratios = speeds.iter().zip(&measured[0]).map(|(speed, first)| speed / first).collect();
        println!("| {count} | {:.0} | {:.0} % |", median(speeds.clone()), 100.0 * median(ratios));
    }
    Ok(())
}
