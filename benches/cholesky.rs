//! How fast the Cholesky factorisation of `examples/tiled_cholesky.rs` is, and how fast it could be.
//!
//! `cargo bench -p dahl-benches --bench cholesky [-- --rounds N] [--workers N] [--n N,N..] [--tile N,N..] [--scheduler NAME,NAME..]`
//!
//! In each round, for each row of the table: what the cores can do at that moment (fused multiply-adds in registers, and
//! products of matrices by `dahl::blas::gemm`, on all cores at once), and then the factorisation. The table shows medians
//! over the rounds.
//!
//! Where other processes run at the same time, the clock measures them as much as us. So all is measured by processor
//! time too, as if this process had had the cores for itself; the shares of what the cores can do are of these rates, each
//! of measures that were taken one after the other. On a machine with nothing else to do, the clock's rate lacks only
//! the time in which a worker had no task.

#[path = "cholesky/cpu_time.rs"]
mod cpu_time;
#[path = "cholesky/limit.rs"]
mod limit;
#[path = "cholesky/settings.rs"]
mod settings;
#[path = "../examples/tiled_cholesky.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_cholesky;

use cpu_time::process_time_ns;
use dahl::prelude::*;
use limit::Limit;
use settings::Settings;
use tiled_cholesky::{Tiles, factorise, fill};

/// One round of one row.
struct Round {
    /// Of the factorisation, by the clock.
    gflops: f64,
    /// Of the factorisation, by its processor time.
    of_cpu_time: f64,
    limit: Limit,
}

fn median(rounds: &[Round], figure: impl Fn(&Round) -> f64) -> f64 {
    let mut figures: Vec<f64> = rounds.iter().map(figure).collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// The rates of one factorisation, in operations per nanosecond: by the clock, and by its processor time.
fn factorisation<T: Real>(rt: &Runtime, n: usize, tile: usize) -> dahl::Result<[f64; 2]> {
    let mut a = Tiles::<T>::lower(rt, n, tile)?;
    fill(&mut a, tile)?;
    rt.wait()?;
    let (begin_ns, begin_cpu_ns) = (rt.clock().now_ns(), process_time_ns());
    factorise(&mut a)?;
    rt.wait()?;
    let ns = (rt.clock().now_ns() - begin_ns) as f64;
    let cpu_ns = (process_time_ns() - begin_cpu_ns) / rt.workers() as f64;
    let flops = (n as f64).powi(3) / 3.0;
    Ok([flops / ns, flops / cpu_ns])
}

fn rows<T: Real>(settings: &Settings, element: &str) -> dahl::Result<()> {
    for &n in &settings.n {
        for &tile in &settings.tiles {
            for scheduler in &settings.schedulers {
                let rt = Runtime::builder().cpu_workers(settings.workers).scheduler(scheduler).build()?;
                let rounds = (0..settings.rounds).map(|_| {
                    let limit = Limit::measure::<T>(settings.workers);
                    let [gflops, of_cpu_time] = factorisation::<T>(&rt, n, tile)?;
                    Ok(Round { gflops, of_cpu_time, limit })
                });
                let rounds: Vec<_> = rounds.collect::<dahl::Result<_>>()?;
                let [gflops, of_cpu_time, peak, gemm] = [
                    median(&rounds, |round| round.gflops),
                    median(&rounds, |round| round.of_cpu_time),
                    median(&rounds, |round| round.limit.peak),
                    median(&rounds, |round| round.limit.gemm),
                ];
                let of_peak = median(&rounds, |round| 100.0 * round.of_cpu_time / round.limit.peak);
                let of_gemm = median(&rounds, |round| 100.0 * round.of_cpu_time / round.limit.gemm);
                let best = rounds.iter().map(|round| round.gflops).fold(0.0, f64::max);
                println!(
                    "| {element} | {n} | {tile} | {scheduler} | {gflops:.0} | {best:.0} | {of_cpu_time:.0} | {peak:.0} | {gemm:.0} | \
                     {of_peak:.0} % | {of_gemm:.0} % |"
                );
            }
        }
    }
    Ok(())
}

fn main() -> dahl::Result<()> {
    let settings = Settings::from_command_line();
    println!("{} workers, {} rounds; GFLOP/s", settings.workers, settings.rounds);
    println!(
        "| type | n | tile | scheduler | median | best | by cpu time | limit | gemm | of the limit | of gemm |"
    );
    println!("|---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|");
    if settings.has("f32") {
        rows::<f32>(&settings, "f32")?;
    }
    if settings.has("f64") {
        rows::<f64>(&settings, "f64")?;
    }
    Ok(())
}
