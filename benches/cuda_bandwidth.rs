//! A copy, a map and sums on a CUDA device, in GB/s by the best of the rounds, and from how many elements on an operation is done
//! sooner there than on the CPU workers, the elements being copied there and the result back. A line of JSON for each figure;
//! `--tiny` in sizes that say nothing, to show that it works. `scripts/gpu_check/pytorch.py` has the same rows of GB/s.
//!
//! `cargo bench -p dahl-benches --bench cuda_bandwidth`

use std::time::{Duration, Instant};

use dahl::ops::Transposed;
use dahl::ops::codelets::{Copy, Matmul, Sum, SumAxis};
use dahl::prelude::*;
use dahl::{Result, bf16, f16};

const ROUNDS: usize = 5;
/// What one program is measured for in a round, about.
const AT_LEAST: Duration = Duration::from_millis(40);

/// `0.5 silu(x) + y`.
#[codelet(R, R, W)]
fn half_silu_plus<T: Real>(x: T, y: T) -> T {
    x / (T::ONE + (-x).exp()) * T::from_f64(0.5) + y
}

fn numbers<T: Real>(count: usize, first: usize) -> Vec<T> {
    (first..first + count).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect()
}

/// The best of the rounds, in seconds for one call of `submit`.
fn best(rt: &Runtime, mut submit: impl FnMut() -> Result<()>) -> Result<f64> {
    let (mut best, mut calls) = (f64::INFINITY, 1_usize);
    // The first round warms up.
    for round in 0..=ROUNDS {
        let taken = loop {
            let began = Instant::now();
            (0..calls).try_for_each(|_| submit())?;
            rt.wait()?;
            let taken = began.elapsed();
            if taken >= AT_LEAST || calls >= 4096 {
                break taken.as_secs_f64() / calls as f64;
            }
            calls *= 2;
        };
        if round > 0 {
            best = best.min(taken);
        }
    }
    Ok(best)
}

fn print(row: &str, value: f64, unit: &str) {
    println!(r#"{{"row": "{row}", "kind": "dahl", "value": {value}, "unit": "{unit}"}}"#);
}

/// What of the device's bandwidth is reached.
fn bandwidth<T: Real>(rt: &Runtime, device: &str, elements: usize, extents: [usize; 2]) -> Result<()> {
    let name = T::NAME;
    let gigabytes = (elements * size_of::<T>()) as f64 / 1e9;
    let x: Vector<'_, T> = rt.from_vec([elements], numbers(elements, 0))?;
    let y: Vector<'_, T> = rt.from_vec([elements], numbers(elements, 1))?;
    let mut out: Vector<'_, T> = rt.zeros([elements])?;
    let taken = best(rt, || Copy::task(&x, &mut out).on_kind(device).submit())?;
    print(&format!("copy-{name}"), 2.0 * gigabytes / taken, "GB/s");
    let taken = best(rt, || HalfSiluPlus::task(&x, &y, &mut out).on_kind(device).submit())?;
    print(&format!("map-{name}"), 3.0 * gigabytes / taken, "GB/s");
    let mut total: Scalar<'_, T> = rt.zeros([])?;
    let taken = best(rt, || {
        Sum::task(&x, &mut total).on_kind(device).submit()?;
        total.finalize()
    })?;
    print(&format!("sum-{name}-all"), gigabytes / taken, "GB/s");
    let [outer, inner] = extents;
    let shape = [outer, elements / outer / inner, inner];
    let block: Block<'_, T> = x.reshape(shape)?;
    for axis in 0..3 {
        let mut reduced = shape;
        reduced[axis] = 1;
        let mut sums: Block<'_, T> = rt.zeros(reduced)?;
        let taken = best(rt, || {
            SumAxis::task(&block, &mut sums, axis).on_kind(device).submit()?;
            sums.finalize()
        })?;
        print(&format!("sum-{name}-axis{axis}"), gigabytes / taken, "GB/s");
    }
    Ok(())
}

/// The first of `sizes` at which an operation of so many elements is done sooner by the kind `device` than by CPU workers. `run` makes
/// the elements anew, runs the operation on a kind and looks at the result.
fn worth(
    rt: &Runtime,
    (row, device): (&str, &str),
    sizes: &[usize],
    mut run: impl FnMut(usize, &str) -> Result<()>,
) -> Result<()> {
    for &size in sizes {
        let on_cpu = best(rt, || run(size, "cpu"))?;
        let on_device = best(rt, || run(size, device))?;
        if on_device < on_cpu {
            print(row, size as f64, "elements");
            return Ok(());
        }
    }
    Ok(())
}

/// From what size on the device is worth its copies.
fn crossings<T: Real>(rt: &Runtime, device: &str, sizes: &[usize]) -> Result<()> {
    let name = T::NAME;
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let mut elements: Vec<_> =
        sizes.iter().map(|&size| rt.from_vec([size], numbers::<T>(size, 0))).collect::<Result<_>>()?;
    let place = |size| sizes.iter().position(|&other| other == size).expect("one of the sizes");
    worth(rt, (&format!("worth-map-{name}"), device), sizes, |size, kind| {
        let x = &mut elements[place(size)];
        x.write()?[0] = T::ONE;
        let mut out = rt.zeros([size])?;
        HalfSiluPlus::task(x, x, &mut out).on_kind(kind).submit()?;
        out.read().map(drop)
    })?;
    worth(rt, (&format!("worth-sum-{name}"), device), sizes, |size, kind| {
        let x = &mut elements[place(size)];
        x.write()?[0] = T::ONE;
        let mut total: Scalar<'_, T> = rt.zeros([])?;
        Sum::task(x, &mut total).on_kind(kind).submit()?;
        total.read().map(drop)
    })?;
    // Square matrices of at most as many elements.
    let edges: Vec<usize> = (3..12).map(|power| 1 << power).filter(|edge| edge * edge <= largest).collect();
    let mut squares: Vec<_> = edges
        .iter()
        .map(|&edge| rt.from_vec([edge, edge], numbers::<T>(edge * edge, 0)))
        .collect::<Result<_>>()?;
    worth(rt, (&format!("worth-matmul-{name}"), device), &edges, |edge, kind| {
        let a = &mut squares[edge.ilog2() as usize - 3];
        a.write()?[[0, 0]] = T::ONE;
        let mut out = rt.zeros([edge, edge])?;
        Matmul::task(a, a, &mut out, Transposed::NEITHER).on_kind(kind).submit()?;
        out.read().map(drop)
    })
}

fn rows<T: Real>(rt: &Runtime, device: &str, is_tiny: bool) -> Result<()> {
    let sizes: Vec<usize> =
        if is_tiny { vec![64, 256] } else { (8..=26).step_by(2).map(|power| 1 << power).collect() };
    if is_tiny {
        bandwidth::<T>(rt, device, 1 << 12, [1 << 4; 2])?;
    } else {
        bandwidth::<T>(rt, device, 1 << 26, [1 << 8, 1 << 9])?;
    }
    crossings::<T>(rt, device, &sizes)
}

fn main() -> Result<()> {
    let is_tiny = std::env::args().any(|argument| argument == "--tiny");
    let rt = Runtime::builder().cuda_devices(1).build()?;
    let device =
        rt.worker_infos().iter().find(|info| !info.is_cpu()).expect("there is a device").kind.clone();
    rows::<f32>(&rt, &device, is_tiny)?;
    rows::<bf16>(&rt, &device, is_tiny)?;
    rows::<f16>(&rt, &device, is_tiny)?;
    rows::<f64>(&rt, &device, is_tiny)
}
