//! Convolution in its three directions on one worker, in GFLOP/s, by the median of its tasks.
//!
//! `cargo bench --bench convolution`.

use std::time::Instant;

use dahl::Result;
use dahl::ops::*;
use dahl::prelude::*;

const TASKS: usize = 15;

/// A convolution by steps of one.
#[derive(Clone, Copy)]
struct Case {
    batch: usize,
    channels: [usize; 2],
    kernel: usize,
    padding: usize,
    image: usize,
}

impl Case {
    fn output(&self) -> usize {
        self.image + 2 * self.padding + 1 - self.kernel
    }

    fn flops(&self) -> f64 {
        let [in_channels, out_channels] = self.channels;
        2.0 * (self.batch * out_channels * self.output().pow(2) * in_channels * self.kernel.pow(2)) as f64
    }
}

fn numbers<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect()
}

/// Billions of operations per second, by the median task.
fn speed(flops: f64, mut task: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..TASKS {
        let begin = Instant::now();
        task()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(flops / times[TASKS / 2] / 1e9)
}

fn speeds<T: Real>(rt: &Runtime, case: Case) -> Result<[f64; 3]> {
    let Case { batch, channels: [from, to], kernel, padding, image } = case;
    let (size, edge) = (case.output(), [padding, padding]);
    let input = rt.from_vec([batch, from, image, image], numbers::<T>(batch * from * image * image))?;
    let filters = rt.from_vec([to, from, kernel, kernel], numbers::<T>(to * from * kernel * kernel))?;
    let gradient = rt.from_vec([batch, to, size, size], numbers::<T>(batch * to * size * size))?;
    let mut out = rt.zeros::<T, 4>([batch, to, size, size])?;
    let mut by_input = rt.zeros::<T, 4>([batch, from, image, image])?;
    let mut by_filters = rt.zeros::<T, 4>([to, from, kernel, kernel])?;
    let forward =
        speed(case.flops(), || conv2d(&input, &filters, &mut out, [1; 2], edge).and_then(|()| rt.wait()))?;
    let backward = speed(case.flops(), || {
        conv2d_backward_input(&gradient, &filters, &mut by_input, [1; 2], edge).and_then(|()| rt.wait())
    })?;
    let of_filters = speed(case.flops(), || {
        conv2d_backward_filters(&input, &gradient, &mut by_filters, [1; 2], edge).and_then(|()| rt.wait())
    })?;
    Ok([forward, backward, of_filters])
}

fn main() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(1).check(false).build()?;
    let cases = [
        Case { batch: 64, channels: [1, 4], kernel: 3, padding: 0, image: 28 },
        Case { batch: 64, channels: [1, 3], kernel: 3, padding: 0, image: 28 },
        Case { batch: 64, channels: [1, 5], kernel: 3, padding: 0, image: 28 },
        Case { batch: 64, channels: [1, 32], kernel: 3, padding: 0, image: 28 },
        Case { batch: 64, channels: [32, 64], kernel: 3, padding: 0, image: 26 },
        Case { batch: 64, channels: [64, 64], kernel: 3, padding: 1, image: 32 },
        Case { batch: 64, channels: [16, 32], kernel: 5, padding: 2, image: 14 },
        Case { batch: 64, channels: [64, 128], kernel: 1, padding: 0, image: 14 },
        Case { batch: 64, channels: [256, 256], kernel: 3, padding: 1, image: 7 },
    ];
    println!(
        "{:<36} {:>5} {:>9} {:>9} {:>9}",
        "convolution, GFLOP/s", "type", "forward", "by input", "filters"
    );
    for case in cases {
        let Case { batch, channels: [from, to], kernel, padding, image } = case;
        let name = format!("{batch} x {from}->{to}, {kernel}x{kernel}, pad {padding}, {image}x{image}");
        let print = |element: &str, [forward, backward, of_filters]: [f64; 3]| {
            println!("{name:<36} {element:>5} {forward:>9.1} {backward:>9.1} {of_filters:>9.1}");
        };
        print("f32", speeds::<f32>(&rt, case)?);
        print("f64", speeds::<f64>(&rt, case)?);
        print("bf16", speeds::<bf16>(&rt, case)?);
        print("f16", speeds::<f16>(&rt, case)?);
    }
    Ok(())
}
