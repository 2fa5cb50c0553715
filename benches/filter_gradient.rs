//! Study: the gradient of a convolution by its filters, summed over a batch in three ways.
//!
//! Each task handles some samples; what differs is where its result goes:
//!
//! * **buffer**: into a buffer of its own, one for each task, and a last task adds them up;
//! * **redux**: into the total, mode `REDUX`: private buffers that a tree of tasks folds;
//! * **commute**: into the total, mode `COMMUTE`: one task at a time, in any order.
//!
//! All run the same loops. Before the gradient comes a task for each part that makes its input, as in a backward pass,
//! so that there is other work to do beside the sums.
//!
//! `cargo bench -p dahl-benches --bench filter_gradient [-- --write]` prints time and memory against the size of the batch; with
//! `--write` it also writes the plots and the table of `docs/studies`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use dahl::ndarray::{ArrayView4, ArrayViewMut4, Axis};
use dahl::prelude::*;
use plotters::prelude::*;

const CHANNELS: usize = 8;
const FILTERS: usize = 16;
const SIZE: usize = 16;
const KERNEL: usize = 3;
const OUT: usize = SIZE - KERNEL + 1;
const BATCHES: [usize; 6] = [1, 8, 32, 64, 128, 256];
const ROUNDS: usize = 7;
const WORKERS: usize = 2;

/// `out[f, i, j, k] += sum over n, r, c of gradient[n, f, r, c] * input[n, i, r + j, c + k]`.
fn accumulate(input: &ArrayView4<f32>, gradient: &ArrayView4<f32>, out: &mut ArrayViewMut4<f32>) {
    let (input, gradient) = (input.to_slice().expect("samples"), gradient.to_slice().expect("samples"));
    let samples = || input.chunks(CHANNELS * SIZE * SIZE).zip(gradient.chunks(FILTERS * OUT * OUT));
    for ((f, i, j, k), out) in out.indexed_iter_mut() {
        let mut sums = [0.0; OUT];
        for (input, gradient) in samples() {
            for r in 0..OUT {
                let gradient = &gradient[(f * OUT + r) * OUT..][..OUT];
                let input = &input[(i * SIZE + r + j) * SIZE + k..][..OUT];
                for c in 0..OUT {
                    sums[c] += gradient[c] * input[c];
                }
            }
        }
        *out += sums.iter().sum::<f32>();
    }
}

/// The gradient of one part, in a buffer of its own: `[1, filters, channels * rows, cols]`.
#[codelet(R, R, W, cpu_only)]
fn gradient_into(input: ArrayView4<f32>, gradient: ArrayView4<f32>, mut out: ArrayViewMut4<f32>) {
    out.fill(0.0);
    let mut out = out.into_shape_with_order((FILTERS, CHANNELS, KERNEL, KERNEL)).expect("a whole buffer");
    accumulate(&input, &gradient, &mut out);
}

#[codelet(R, R, REDUX, cpu_only)]
fn gradient_redux(input: ArrayView4<f32>, gradient: ArrayView4<f32>, mut out: ArrayViewMut4<f32>) {
    accumulate(&input, &gradient, &mut out);
}

#[codelet(R, R, COMMUTE, cpu_only)]
fn gradient_commute(input: ArrayView4<f32>, gradient: ArrayView4<f32>, mut out: ArrayViewMut4<f32>) {
    accumulate(&input, &gradient, &mut out);
}

/// Something that makes a part of the gradient, as the layer behind would.
#[codelet(RW, cpu_only)]
fn arrives(gradient: &mut [f32], step: f32) {
    for (i, gradient) in gradient.iter_mut().enumerate() {
        *gradient = ((i % 17) as f32 - 8.0) * step;
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    /// Only the tasks before the gradient.
    None,
    Buffer,
    Redux,
    Commute,
}

const WAYS: [(Way, &str); 3] = [(Way::Buffer, "buffer"), (Way::Redux, "redux"), (Way::Commute, "commute")];

/// Microseconds for a sample, and the most bytes of arrays that were reserved for it beyond the operands.
struct Figure {
    us_per_sample: f64,
    bytes: usize,
    total: Vec<f32>,
}

fn run(way: Way, batch: usize, samples_per_task: usize) -> dahl::Result<Figure> {
    let rt = Runtime::builder().cpu_workers(WORKERS).build()?;
    let len = batch * CHANNELS * SIZE * SIZE;
    let input: Vec<f32> = (0..len).map(|i| ((i * 7919) % 101) as f32 / 101.0 - 0.5).collect();
    let input = rt.from_vec([batch, CHANNELS, SIZE, SIZE], input)?;
    let mut gradient = rt.zeros([batch, FILTERS, OUT, OUT])?;
    let mut times = Vec::new();
    let operand_bytes = rt.memory()[0].reserved_bytes;
    let mut result = Vec::new();
    let mut arena = rt.arena();
    // The first round makes what is made once, such as records of tasks and the states of parts.
    for round in 0..=ROUNDS {
        let way = if round == 0 { Way::None } else { way };
        let start = Instant::now();
        let mut total: Tensor<f32> = arena.zeros([FILTERS, CHANNELS, KERNEL, KERNEL])?;
        let inputs = input.partition(Axis(0), samples_per_task)?;
        let mut gradients = gradient.partition_mut(Axis(0), samples_per_task)?;
        for part in gradients.iter_mut() {
            arrives(part, 0.01)?;
        }
        if way == Way::Buffer {
            let mut buffer = arena.zeros([inputs.len(), FILTERS, CHANNELS * KERNEL, KERNEL])?;
            let mut buffers = buffer.partition_mut(Axis(0), 1)?;
            for ((input, gradient), out) in inputs.iter().zip(gradients.iter()).zip(buffers.iter_mut()) {
                gradient_into(input, gradient, out)?;
            }
            let rows = buffer.reshaped([inputs.len(), FILTERS * CHANNELS * KERNEL * KERNEL])?;
            let mut row = total.reshaped_mut([1, FILTERS * CHANNELS * KERNEL * KERNEL])?;
            dahl::ops::sum_axis(&rows, &mut row, 0)?;
        } else if way != Way::None {
            for (input, gradient) in inputs.iter().zip(gradients.iter()) {
                match way {
                    Way::Redux => gradient_redux(input, gradient, &mut total)?,
                    _ => gradient_commute(input, gradient, &mut total)?,
                }
            }
        }
        result = total.to_vec()?;
        if round > 0 {
            times.push(start.elapsed().as_secs_f64() * 1e6 / batch as f64);
        }
        arena.reset();
    }
    times.sort_by(f64::total_cmp);
    let bytes = rt.memory()[0].peak_bytes - operand_bytes;
    Ok(Figure { us_per_sample: times[times.len() / 2], bytes, total: result })
}

type Series = Vec<(f64, f64)>;

fn plot(path: &Path, title: &str, unit: &str, log: bool, series: &[(&str, Series)]) {
    let root = SVGBackend::new(path, (640, 400)).into_drawing_area();
    root.fill(&WHITE).expect("a drawing");
    let values = || series.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let top = values().fold(0.0, f64::max) * 1.15;
    let bottom = if log { values().fold(f64::INFINITY, f64::min) / 2.0 } else { 0.0 };
    let mut builder = ChartBuilder::on(&root);
    builder.caption(title, ("sans-serif", 18)).margin(12).x_label_area_size(40).y_label_area_size(70);
    let range = (BATCHES[0] as f64..BATCHES[BATCHES.len() - 1] as f64).log_scale();
    let colours = [RGBColor(230, 159, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];
    macro_rules! draw {
        ($chart:expr) => {{
            let mut chart = $chart.expect("a chart");
            let mesh = &mut chart.configure_mesh();
            mesh.x_desc("samples in the batch").y_desc(unit).light_line_style(WHITE).draw().expect("a mesh");
            for ((name, points), colour) in series.iter().zip(colours) {
                let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(4);
                let drawn = chart.draw_series(line).expect("a line").label(*name);
                drawn.legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            }
            let labels = &mut chart.configure_series_labels();
            labels
                .position(SeriesLabelPosition::UpperMiddle)
                .background_style(WHITE.mix(0.8))
                .draw()
                .expect("a legend");
        }};
    }
    if log {
        draw!(builder.build_cartesian_2d(range, (bottom..top).log_scale()))
    } else {
        draw!(builder.build_cartesian_2d(range, bottom..top))
    }
    root.present().expect("a file");
}

fn main() -> dahl::Result<()> {
    let write = std::env::args().any(|argument| argument == "--write");
    let mut table = String::from("samples_per_task,batch,way,us_per_sample,bytes\n");
    for samples_per_task in [1, 8] {
        let mut times: Vec<(&str, Series)> = WAYS.map(|(_, name)| (name, Vec::new())).into();
        let mut memory = times.clone();
        for batch in BATCHES {
            let mut totals = Vec::new();
            for (index, (way, name)) in WAYS.into_iter().enumerate() {
                let figure = run(way, batch, samples_per_task)?;
                println!(
                    "{samples_per_task} a task, batch {batch:>3}, {name:<8} {:>8.2} us/sample {:>9} bytes",
                    figure.us_per_sample, figure.bytes
                );
                let (us, bytes) = (figure.us_per_sample, figure.bytes);
                let _ = writeln!(table, "{samples_per_task},{batch},{name},{us:.3},{bytes}");
                times[index].1.push((batch as f64, us));
                memory[index].1.push((batch as f64, bytes as f64 / 1024.0));
                totals.push(figure.total);
            }
            for total in &totals[1..] {
                let far = total.iter().zip(&totals[0]).any(|(a, b)| (a - b).abs() > 1e-3 * (1.0 + b.abs()));
                assert!(!far, "the three ways differ");
            }
        }
        if write && samples_per_task == 1 {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies");
            let (time, bytes) =
                (folder.join("filter-gradient-time.svg"), folder.join("filter-gradient-memory.svg"));
            plot(&time, "Filter gradient, one sample a task: time", "microseconds a sample", false, &times);
            plot(&bytes, "Filter gradient, one sample a task: memory", "KiB reserved", true, &memory);
        }
    }
    if write {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/studies/filter-gradient.csv");
        fs::write(path, table).map_err(dahl::Error::other)?;
    }
    Ok(())
}
