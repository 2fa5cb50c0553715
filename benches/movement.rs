//! Three questions of memory movement, on one worker and in turn:
//!
//! 1. A result is wanted transposed. Does its task write with strides, or in order, and a copy transposes?
//! 2. A product's result is a transposed factor of the next. Does that product read with strides, or does a copy transpose?
//! 3. Two tasks after each other pass over all tiles of an array. Does the second begin where the first began, or where it ended?
//!
//! `cargo bench -p dahl-benches --bench movement [-- --rounds 15]`. It prints the medians in microseconds, and of the rounds' ratios, the
//! second way by the first (`docs/measurements/movement.md`).

use std::time::Instant;

use dahl::Result;
use dahl::ndarray::{ArrayView2, ArrayViewMut2, Axis};
use dahl::ops::{Transposed, matmul, matmul_transposed, permute, scale_self, silu};
use dahl::prelude::*;
use lexopt::prelude::*;

/// `out[j, i] = silu(x[i, j])`, in the order of `x`.
#[codelet(R, W, cpu_only, shape(out = [x.ncols(), x.nrows()]))]
fn silu_transposed(x: ArrayView2<f32>, mut out: ArrayViewMut2<f32>) {
    for (i, row) in x.outer_iter().enumerate() {
        for (&x, out) in row.iter().zip(out.column_mut(i)) {
            *out = x / (1.0 + (-x).exp());
        }
    }
}

/// The same, in tiles of 16 x 16: lines of both arrays stay in the cache until all of their elements were used.
#[codelet(R, W, cpu_only, shape(out = [x.ncols(), x.nrows()]))]
fn silu_transposed_in_tiles(x: ArrayView2<f32>, mut out: ArrayViewMut2<f32>) {
    let mut out = out.view_mut().reversed_axes();
    for (x, mut out) in x.axis_chunks_iter(Axis(0), 16).zip(out.axis_chunks_iter_mut(Axis(0), 16)) {
        for (x, out) in x.axis_chunks_iter(Axis(1), 16).zip(out.axis_chunks_iter_mut(Axis(1), 16)) {
            dahl::ndarray::Zip::from(out).and(x).for_each(|out, &x| *out = x / (1.0 + (-x).exp()));
        }
    }
}

/// The ways to do something, each with two elements of its result.
type Ways<'w> = [(&'static str, &'w mut dyn FnMut() -> Result<[f32; 2]>)];

/// Two elements, after all tasks on the array.
fn corners(array: &Matrix<'_, f32>, n: usize) -> Result<[f32; 2]> {
    let elements = array.read()?;
    Ok([elements[[n - 1, 0]], elements[[0, n - 1]]])
}

/// Times several ways in turn, and prints a line of a table for each; they must have the same results.
fn compare(question: &str, size: usize, rounds: usize, ways: &mut Ways<'_>, rt: &Runtime) -> Result<()> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for round in 0..=rounds {
        let mut results = Vec::new();
        for ((_, way), times) in ways.iter_mut().zip(&mut times) {
            rt.wait()?;
            let begin = Instant::now();
            let result = way()?;
            if round > 0 {
                times.push(begin.elapsed().as_secs_f64() * 1e6);
            }
            results.push(result);
        }
        let alike = |one: &[f32], other: &[f32]| {
            one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 1e-4 * a.abs().max(1.0))
        };
        assert!(
            results.iter().all(|result| alike(result, &results[0])),
            "{question}: all ways compute the same"
        );
    }
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    for (index, (way, _)) in ways.iter().enumerate() {
        let ratios = times[index].iter().zip(&times[0]).map(|(time, first)| time / first).collect();
        println!(
            "| {question} | {size} | {way} | {:.0} | {:.2} |",
            median(times[index].clone()),
            median(ratios)
        );
    }
    Ok(())
}

fn array(rt: &Runtime, n: usize, seed: usize) -> Result<Matrix<'static, f32>> {
    rt.from_vec([n, n], (0..n * n).map(|i| ((i + seed) * 37 % 101) as f32 / 50.0 - 1.0).collect())
}

fn transposed_results(rt: &Runtime, n: usize, rounds: usize) -> Result<()> {
    let x = array(rt, n, 0)?;
    let (mut in_order, mut out) =
        (rt.zeros([n, n])?, [rt.zeros([n, n])?, rt.zeros([n, n])?, rt.zeros([n, n])?]);
    let [with_strides, in_tiles, copied] = &mut out;
    let mut strides = || {
        silu_transposed(&x, with_strides)?;
        corners(with_strides, n)
    };
    let mut tiles = || {
        silu_transposed_in_tiles(&x, in_tiles)?;
        corners(in_tiles, n)
    };
    let mut copy = || {
        silu(&x, &mut in_order)?;
        permute(&in_order, copied, [1, 0])?;
        corners(copied, n)
    };
    let ways: &mut Ways<'_> = &mut [
        ("strided write", &mut strides),
        ("strided write in tiles", &mut tiles),
        ("write and copy", &mut copy),
    ];
    compare("transposed result", n, rounds, ways, rt)
}

fn transposed_factors(rt: &Runtime, n: usize, rounds: usize) -> Result<()> {
    let (a, b, c) = (array(rt, n, 0)?, array(rt, n, 3)?, array(rt, n, 5)?);
    let (mut first, mut turned, mut out) = (rt.zeros([n, n])?, rt.zeros([n, n])?, rt.zeros([n, n])?);
    let (mut other_first, mut other_out) = (rt.zeros([n, n])?, rt.zeros([n, n])?);
    let mut strides = || {
        matmul(&a, &b, &mut other_first)?;
        matmul_transposed(&other_first, &c, &mut other_out, Transposed::LEFT)?;
        corners(&other_out, n)
    };
    let mut copy = || {
        matmul(&a, &b, &mut first)?;
        permute(&first, &mut turned, [1, 0])?;
        matmul(&turned, &c, &mut out)?;
        corners(&out, n)
    };
    let ways: &mut Ways<'_> = &mut [("transposed factor", &mut strides), ("transposing copy", &mut copy)];
    compare("two products", n, rounds, ways, rt)
}

fn order_of_neighbours(rt: &Runtime, n: usize, rounds: usize) -> Result<()> {
    let (mut x, mut y) = (array(rt, n, 0)?, array(rt, n, 0)?);
    let rows = (1 << 18) / n.max(1);
    let pass = |x: &mut Matrix<'static, f32>, turns: bool| {
        let mut parts = x.partition_mut(Axis(0), rows.max(1))?;
        for part in parts.iter_mut() {
            scale_self(part, 2.0)?;
        }
        let second: &mut dyn Iterator<Item = _> =
            if turns { &mut parts.iter_mut().rev() } else { &mut parts.iter_mut() };
        for part in second {
            scale_self(part, 0.5)?;
        }
        Result::Ok(())
    };
    let mut same = || {
        pass(&mut x, false)?;
        corners(&x, n)
    };
    let mut turned = || {
        pass(&mut y, true)?;
        corners(&y, n)
    };
    let ways: &mut Ways<'_> = &mut [("same order", &mut same), ("from the end", &mut turned)];
    compare("two passes over tiles of 1 MiB", n, rounds, ways, rt)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut rounds = 15;
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("bench") => {}
            other => return Err(other.unexpected().into()),
        }
    }
    // One worker, in the order of submission.
    let rt = Runtime::builder().cpu_workers(1).scheduler("eager").build()?;
    println!("| question | n | way | us | by the first |\n|---|---:|---|---:|---:|");
    for n in [64, 256, 1000, 1024, 4096] {
        transposed_results(&rt, n, rounds)?;
    }
    for n in [64, 256, 1000, 1024, 2048] {
        transposed_factors(&rt, n, rounds)?;
    }
    for n in [1024, 2048, 4096, 6144] {
        order_of_neighbours(&rt, n, rounds)?;
    }
    Ok(())
}
