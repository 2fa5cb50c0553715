//! Convolutions and their gradients on a CUDA device, in turn: as they are chosen, which is by cuDNN where it is there, and by their
//! kernels in CUDA, in TFLOP/s by the best of the rounds. A line of JSON for each figure; `--tiny` in sizes that say nothing, to
//! show that it works. `scripts/gpu_check/pytorch.py` has the same rows.
//!
//! `cargo bench -p dahl-benches --bench cuda_convolution`

#[path = "convolution/case.rs"]
mod case;

use std::time::{Duration, Instant};

use case::Case;
use dahl::ops::Conv2dGeometry;
use dahl::ops::codelets::{Conv2d, Conv2dBackwardFilters, Conv2dBackwardInput};
use dahl::prelude::*;
use dahl::{Result, bf16, f16};

const ROUNDS: usize = 5;
/// What one program is measured for in a round, about.
const AT_LEAST: Duration = Duration::from_millis(40);

const CASES: [Case; 4] = [
    Case { batch: 500, channels: [1, 32], kernel: 3, padding: 0, image: 28 },
    Case { batch: 500, channels: [32, 64], kernel: 3, padding: 0, image: 26 },
    Case { batch: 128, channels: [64, 64], kernel: 3, padding: 1, image: 56 },
    Case { batch: 128, channels: [256, 256], kernel: 3, padding: 1, image: 14 },
];
const TINY: [Case; 1] = [Case { batch: 2, channels: [3, 4], kernel: 3, padding: 1, image: 6 }];

fn name_of(case: Case) -> String {
    let Case { batch, channels: [from, to], kernel, padding, image } = case;
    format!("{batch}x{from}to{to}-{kernel}pad{padding}-{image}")
}

fn numbers<T: Real>(count: usize, first: usize) -> Vec<T> {
    (first..first + count).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect()
}

/// Seconds for one of so many calls, which become more until they take long enough.
fn seconds(calls: &mut usize, mut run: impl FnMut(usize) -> Result<()>) -> Result<f64> {
    loop {
        let began = Instant::now();
        run(*calls)?;
        let taken = began.elapsed();
        if taken >= AT_LEAST || *calls >= 4096 {
            return Ok(taken.as_secs_f64() / *calls as f64);
        }
        *calls *= 2;
    }
}

/// Measures one direction: `submit` gives a task to the device, by its kernel in CUDA or as is chosen.
fn measure(rt: &Runtime, row: &str, flops: f64, mut submit: impl FnMut(bool) -> Result<()>) -> Result<()> {
    let (mut best, mut calls) = ([f64::INFINITY; 2], [1; 2]);
    // The first round warms up.
    for round in 0..=ROUNDS {
        // A device that has just been busy may have become slower: each comes first and second.
        for program in [0, 1].map(|place| (place + round) % 2) {
            let taken = seconds(&mut calls[program], |calls| {
                for _ in 0..calls {
                    submit(program == 1)?;
                }
                rt.wait()
            })?;
            if round > 0 {
                best[program] = best[program].min(taken);
            }
        }
    }
    for (program, taken) in ["dahl", "dahl, its kernel"].into_iter().zip(best) {
        let rate = flops / taken / 1e12;
        println!(r#"{{"row": "{row}", "kind": "{program}", "value": {rate}, "unit": "TFLOP/s"}}"#);
    }
    Ok(())
}

fn rows<T: Real>(rt: &Runtime, case: Case) -> Result<()> {
    let kind = &rt.worker_infos().iter().find(|info| !info.is_cpu()).expect("there is a device").kind.clone();
    let Case { batch, channels: [from, to], kernel, padding, image } = case;
    let (size, edge, name) = (case.output(), [padding; 2], format!("{}-{}", T::NAME, name_of(case)));
    let input = rt.from_vec([batch, from, image, image], numbers::<T>(batch * from * image * image, 0))?;
    let filters = rt.from_vec([to, from, kernel, kernel], numbers::<T>(to * from * kernel * kernel, 1))?;
    let gradient = rt.from_vec([batch, to, size, size], numbers::<T>(batch * to * size * size, 2))?;
    let mut out = rt.zeros::<T, 4>([batch, to, size, size])?;
    let mut by_input = rt.zeros::<T, 4>([batch, from, image, image])?;
    let mut by_filters = rt.zeros::<T, 4>([to, from, kernel, kernel])?;
    measure(rt, &format!("conv2d-{name}"), case.flops(), |own| {
        let task =
            Conv2d::task(&input, &filters, &mut out, Conv2dGeometry::default().padding(edge)).on_kind(kind);
        if own { task.kernel("cuda").submit() } else { task.submit() }
    })?;
    measure(rt, &format!("conv2d_backward_input-{name}"), case.flops(), |own| {
        let task = Conv2dBackwardInput::task(
            &gradient,
            &filters,
            &mut by_input,
            Conv2dGeometry::default().padding(edge),
        )
        .on_kind(kind);
        if own { task.kernel("cuda").submit() } else { task.submit() }
    })?;
    measure(rt, &format!("conv2d_backward_filters-{name}"), case.flops(), |own| {
        let task = Conv2dBackwardFilters::task(
            &input,
            &gradient,
            &mut by_filters,
            Conv2dGeometry::default().padding(edge),
        )
        .on_kind(kind);
        if own { task.kernel("cuda").submit() } else { task.submit() }
    })
}

fn main() -> Result<()> {
    let is_tiny = std::env::args().any(|argument| argument == "--tiny");
    let cases: &[Case] = if is_tiny { &TINY } else { &CASES };
    let rt = Runtime::builder().cpu_workers(1).cuda_devices(1).build()?;
    for &case in cases {
        rows::<f32>(&rt, case)?;
        rows::<bf16>(&rt, case)?;
        rows::<f16>(&rt, case)?;
        rows::<f64>(&rt, case)?;
    }
    Ok(())
}
