//! Convolution in its three directions on one worker, in GFLOP/s, by the median of its tasks.
//!
//! `cargo bench -p dahl-benches --bench convolution [-- --type f32 --case "64 x 64->64" --json]`: those of the type, and whose name has the
//! text in it; a line of JSON for each. `benches/pytorch/compare.py` runs it, and the same in PyTorch, in turn.

#[path = "convolution/case.rs"]
mod case;

use std::time::Instant;

use case::Case;
use dahl::Result;
use dahl::ops::*;
use dahl::prelude::*;
use lexopt::prelude::*;
use serde_json::json;

const TASKS: usize = 15;

fn name_of(case: Case) -> String {
    let Case { batch, channels: [from, to], kernel, padding, image } = case;
    format!("{batch} x {from}->{to}, {kernel}x{kernel}, pad {padding}, {image}x{image}")
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
    let forward = speed(case.flops(), || {
        conv2d(&input, &filters, &mut out, Conv2dGeometry::default().padding(edge)).and_then(|()| rt.wait())
    })?;
    let backward = speed(case.flops(), || {
        conv2d_backward_input(&gradient, &filters, &mut by_input, Conv2dGeometry::default().padding(edge))
            .and_then(|()| rt.wait())
    })?;
    let of_filters = speed(case.flops(), || {
        conv2d_backward_filters(&input, &gradient, &mut by_filters, Conv2dGeometry::default().padding(edge))
            .and_then(|()| rt.wait())
    })?;
    Ok([forward, backward, of_filters])
}

/// What is measured, and how it is shown.
#[derive(Default)]
struct Settings {
    element: Option<String>,
    case: String,
    is_json: bool,
}

impl Settings {
    fn parse() -> std::result::Result<Self, lexopt::Error> {
        let mut settings = Self::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("type") => settings.element = Some(parser.value()?.string()?),
                Long("case") => settings.case = parser.value()?.string()?,
                Long("json") => settings.is_json = true,
                Long("bench") => {} // cargo says so
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }

    /// Measures a case in a type, if it is wanted, and prints it.
    fn row<T: Real>(&self, rt: &Runtime, element: &str, case: Case) -> Result<()> {
        let name = name_of(case);
        if self.element.as_ref().is_some_and(|wanted| wanted != element) || !name.contains(&self.case) {
            return Ok(());
        }
        let [forward, backward_input, backward_filters] = speeds::<T>(rt, case)?;
        if self.is_json {
            let line = json!({
                "case": name,
                "type": element,
                "batch": case.batch,
                "in_channels": case.channels[0],
                "out_channels": case.channels[1],
                "kernel": case.kernel,
                "padding": case.padding,
                "image": case.image,
                "forward": forward,
                "backward_input": backward_input,
                "backward_filters": backward_filters,
            });
            println!("{line}");
        } else {
            println!("{name:<36} {element:>5} {forward:>9.1} {backward_input:>9.1} {backward_filters:>9.1}");
        }
        Ok(())
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::parse()?;
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
    if !settings.is_json {
        println!(
            "{:<36} {:>5} {:>9} {:>9} {:>9}",
            "convolution, GFLOP/s", "type", "forward", "by input", "filters"
        );
    }
    for case in cases {
        settings.row::<f32>(&rt, "f32", case)?;
        settings.row::<f64>(&rt, "f64", case)?;
        settings.row::<bf16>(&rt, "bf16", case)?;
        settings.row::<f16>(&rt, "f16", case)?;
    }
    Ok(())
}
