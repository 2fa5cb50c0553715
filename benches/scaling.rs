//! How programs scale on clusters that are not there: a Cholesky factorisation and a stencil, in virtual time.
//!
//! `cargo bench -p dahl-benches --bench scaling [-- --ranks 1,4,16,64]`. It prints, for each number of ranks, the time, the parallel
//! efficiency, and the time that no schedule beats: the work divided by all workers, or the longest path of tasks.
//!
//! Kernels really run, so tiles are small: of 32 x 32 elements. The machine has ratios of computation, bandwidth and latency
//! of tiles of 512 x 512 on cores of 40 GFLOP/s with a network of 12.5 GB/s and 1.5 us; all times are a hundredth of theirs.

#[path = "../examples/tiled_cholesky.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_cholesky;

use dahl::Result;
use dahl::ndarray::{ArrayView1, ArrayViewMut1, ArrayViewMut2};
use dahl::prelude::*;
use dahl_core::Machine;
use lexopt::prelude::*;
use tiled_cholesky::{Tiles, factorise, fill};

/// Elements of a side of a tile.
const TILE: usize = 32;
/// The workers of a rank.
const WORKERS: usize = 4;
/// Nanoseconds of a task beside its work.
const OVERHEAD_NS: f64 = 10.0;

/// A cluster of so many ranks, with a network of one level.
fn machine(ranks: usize) -> Result<Machine> {
    Machine::from_toml(&format!(
        "[cpu.speed]
         gflops = 1
         gbytes_per_s = 1000
         overhead_us = {}
         [cluster]
         ranks = {ranks}
         [[cluster.level]]
         latency_us = 0.015
         gbytes_per_s = 5",
        OVERHEAD_NS / 1e3
    ))
}

/// A row of a table.
struct Run {
    seconds: f64,
    /// The work of all tasks, and that of the longest path, in seconds of a worker.
    work: f64,
    path: f64,
}

/// Runs a program on a cluster. `work` and `path` are in nanoseconds.
fn run(ranks: usize, [work, path]: [f64; 2], program: impl Fn(&Runtime) -> Result<()> + Sync) -> Result<Run> {
    let builder = || Runtime::builder().cpu_workers(WORKERS).scheduler("prio");
    let times = dahl_ranks::cluster(&machine(ranks)?, builder, |rt| {
        program(rt)?;
        rt.wait()?;
        Ok(rt.clock().now_ns())
    });
    let times = times.unwrap_or_else(|failed| panic!("{failed}"));
    let ns = times.into_iter().max().unwrap_or(0) as f64;
    Ok(Run { seconds: ns / 1e9, work: work / 1e9, path: path / 1e9 })
}

/// The factorisation of a matrix of so many tiles a side, which belong to a grid of ranks in turn.
fn cholesky(ranks: usize, tiles: usize) -> Result<Run> {
    let flops = (TILE as f64).powi(3);
    let [potrf, trsm, syrk, gemm] =
        [flops / 3.0, flops, flops + flops / TILE as f64, 2.0 * flops].map(|ns| ns + OVERHEAD_NS);
    let t = tiles as f64;
    let pairs = t * (t - 1.0) / 2.0;
    let work = t * potrf + pairs * (trsm + syrk) + pairs * (t - 2.0) / 3.0 * gemm;
    let path = t * potrf + (t - 1.0) * (trsm + syrk);
    let across =
        (1..=ranks).rev().find(|&side| side * side <= ranks && ranks.is_multiple_of(side)).unwrap_or(1);
    run(ranks, [work, path], |rt| {
        let mut a = Tiles::<f64>::lower(rt, tiles * TILE, TILE)?;
        for (i, row) in a.rows().iter().enumerate() {
            for (j, tile) in row.iter().enumerate() {
                rt.set_owner(tile, i % across * (ranks / across) + j % (ranks / across))?;
            }
        }
        fill(&mut a, TILE)?;
        factorise(&mut a)
    })
}

/// `x = x + rate * (above + below + left + right - 4 x)` in a strip, whose edges go to its neighbours.
#[codelet(R, R, RW, W, W, cpu_only, flops = 6 * x.len())]
fn diffuse(
    above: ArrayView1<f64>,
    below: ArrayView1<f64>,
    mut x: ArrayViewMut2<f64>,
    mut first: ArrayViewMut1<f64>,
    mut last: ArrayViewMut1<f64>,
) {
    let (rows, columns) = x.dim();
    let old = x.to_owned();
    for i in 0..rows {
        for j in 0..columns {
            let up = if i == 0 { above[j] } else { old[[i - 1, j]] };
            let down = if i + 1 == rows { below[j] } else { old[[i + 1, j]] };
            let left = old[[i, (j + columns - 1) % columns]];
            let right = old[[i, (j + 1) % columns]];
            x[[i, j]] += 0.1 * (up + down + left + right - 4.0 * old[[i, j]]);
        }
    }
    first.assign(&x.row(0));
    last.assign(&x.row(rows - 1));
}

/// Steps of a stencil on a ring of so many strips of 16 x 256 elements, in blocks on the ranks.
fn stencil(ranks: usize, strips: usize) -> Result<Run> {
    const STEPS: usize = 50;
    const ROWS: usize = 16;
    const COLUMNS: usize = 256;
    let task = 6.0 * (ROWS * COLUMNS) as f64 + OVERHEAD_NS;
    let path = STEPS as f64 * task;
    run(ranks, [strips as f64 * path, path], |rt| {
        let edges = || (0..strips).map(|_| rt.zeros([COLUMNS])).collect::<Result<Vec<Vector<'_, f64>>>>();
        let mut x: Vec<Matrix<'_, f64>> =
            (0..strips).map(|_| rt.zeros([ROWS, COLUMNS])).collect::<Result<_>>()?;
        let (mut old, mut new) = ([edges()?, edges()?], [edges()?, edges()?]);
        for (strip, x) in x.iter().enumerate() {
            let owner = strip * ranks / strips;
            rt.set_owner(x, owner)?;
            for edges in old.iter().chain(&new) {
                rt.set_owner(&edges[strip], owner)?;
            }
        }
        for _ in 0..STEPS {
            let [first, last] = &mut new;
            for strip in 0..strips {
                let (above, below) = (&old[1][(strip + strips - 1) % strips], &old[0][(strip + 1) % strips]);
                Diffuse::task(above, below, &mut x[strip], &mut first[strip], &mut last[strip]).submit()?;
            }
            std::mem::swap(&mut old, &mut new);
        }
        Ok(())
    })
}

fn print(name: &str, ranks: usize, size: usize, Run { seconds, work, path }: &Run) {
    let shared = work / (ranks * WORKERS) as f64;
    let bound = shared.max(*path);
    println!(
        "| {name} | {ranks} | {size} | {:.3} | {:.0} % | {:.3} | {:.0} % |",
        seconds * 1e3,
        100.0 * shared / seconds,
        bound * 1e3,
        100.0 * bound / seconds
    );
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut all = vec![1, 4, 16, 64];
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("ranks") => {
                let value = arguments.value()?.string()?;
                all = value.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?;
            }
            Long("bench") => {}
            other => return Err(other.unexpected().into()),
        }
    }
    println!(
        "| program | ranks | tiles or strips | ms | efficiency | bound, ms | of the bound |\n|---|---:|---:|---:|---:|---:|---:|"
    );
    for &ranks in &all {
        print("Cholesky, strong", ranks, 24, &cholesky(ranks, 24)?);
    }
    for &ranks in all.iter().filter(|&&ranks| ranks <= 64) {
        // As many operations on each rank.
        let tiles = (12.0 * (ranks as f64).cbrt()).round() as usize;
        print("Cholesky, weak", ranks, tiles, &cholesky(ranks, tiles)?);
    }
    for &ranks in &all {
        print("stencil, strong", ranks, 1024, &stencil(ranks, 1024)?);
    }
    for &ranks in &all {
        print("stencil, weak", ranks, 8 * ranks, &stencil(ranks, 8 * ranks)?);
    }
    Ok(())
}
