//! Memory over time, and speed, of one training with its arrays kept in three ways: in one arena that is reset at the
//! end of each step, in an arena for the forward and one for the backward pass, and each on its own, as `malloc` and
//! `free` would have it. The results are the same bit for bit, which is asserted.
//!
//! `cargo bench -p dahl-benches --bench memory [-- WORKERS]`. It writes `docs/images/memory.svg`; `docs/memory.md` explains it.

use std::time::Instant;

use dahl::ops::{Conv2dGeometry, Philox, Pool2dGeometry, Transposed};
use dahl::prelude::*;
use dahl::{Result, ops};
use dahl_nn::prelude::*;
use plotters::prelude::*;

/// Samples of a step: so few that what an array costs shows, and so many that its kernels do.
const BATCHES: [usize; 2] = [2, 64];
/// That of the run that is plotted.
const PLOTTED_BATCH: usize = 64;
const FILTERS: usize = 8;
const PIXELS: usize = 13 * 13;
const STEPS: usize = 150;
/// Steps of the run that is plotted.
const PLOTTED_STEPS: usize = 12;
const REPEATS: usize = 5;
/// About four steps.
const TASKS_IN_FLIGHT: usize = 64;
const MB: f64 = (1 << 20) as f64;

/// Where the arrays of a pass are made.
enum ArraySource<'a> {
    Arena(&'a Arena),
    Alone(&'a Runtime),
}

impl<'a> ArraySource<'a> {
    fn array<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'a, T, N>> {
        match self {
            ArraySource::Arena(arena) => arena.zeros(shape),
            ArraySource::Alone(rt) => rt.zeros(shape),
        }
    }
}

/// Convolution 1 -> 8, 3x3; relu; max-pool 2; dense 10.
struct Network {
    filters: Tensor<'static, f32>,
    by_filters: Tensor<'static, f32>,
    weights: Matrix<'static, f32>,
    by_weights: Matrix<'static, f32>,
    loss: Scalar<'static, f32>,
}

impl Network {
    fn new(rt: &Runtime) -> Result<Self> {
        let mut filters = rt.zeros([FILTERS, 1, 3, 3])?;
        ops::uniform(&mut filters, -0.3, 0.3, Philox::new(7))?;
        let mut weights = rt.zeros([10, FILTERS * PIXELS])?;
        ops::uniform(&mut weights, -0.03, 0.03, Philox::new(7).skip(1000))?;
        let (by_filters, by_weights) = (filters.zeros_like()?, weights.zeros_like()?);
        Ok(Self { filters, by_filters, weights, by_weights, loss: rt.zeros([])? })
    }

    /// Forward, backward, update. Each array is dropped as soon as it is of no more use; `look` is called after each op.
    fn step(
        &mut self,
        (forward, backward): (&ArraySource<'_>, &ArraySource<'_>),
        input: &Tensor<'_, f32>,
        labels: &Vector<'_, u32>,
        look: &mut impl FnMut(),
    ) -> Result<()> {
        let batch = input.shape()[0];
        let factor = 1.0 / batch as f64;
        let mut conv = forward.array([batch, FILTERS, 26, 26])?;
        ops::conv2d(input, &self.filters, &mut conv, Conv2dGeometry::default())?;
        look();
        let mut active = forward.array([batch, FILTERS, 26, 26])?;
        ops::relu(&conv, &mut active)?;
        look();
        let mut pooled = forward.array([batch, FILTERS, 13, 13])?;
        let mut places = forward.array([batch, FILTERS, 13, 13])?;
        ops::max_pool2d(&active, &mut pooled, &mut places, Pool2dGeometry::new([2; 2]))?;
        drop(active);
        let pooled = pooled.reshape([batch, FILTERS * PIXELS])?;
        look();
        let mut logits = forward.array([batch, 10])?;
        ops::matmul_transposed(&pooled, &self.weights, &mut logits, Transposed::RIGHT)?;
        ops::cross_entropy(&logits, labels, &mut self.loss, factor)?;
        look();

        let mut by_logits = backward.array([batch, 10])?;
        ops::cross_entropy_backward(&logits, labels, &mut by_logits, factor)?;
        drop(logits);
        ops::matmul_add_transposed(&by_logits, &pooled, &mut self.by_weights, Transposed::LEFT)?;
        drop(pooled);
        let mut by_pooled = backward.array([batch, FILTERS * PIXELS])?;
        ops::matmul(&by_logits, &self.weights, &mut by_pooled)?;
        drop(by_logits);
        look();
        let mut by_active = backward.array([batch, FILTERS, 26, 26])?;
        let by_pooled = by_pooled.reshape([batch, FILTERS, 13, 13])?;
        ops::max_pool2d_backward(&by_pooled, &places, &mut by_active)?;
        drop((by_pooled, places));
        look();
        let mut by_conv = backward.array([batch, FILTERS, 26, 26])?;
        ops::relu_backward(&conv, &by_active, &mut by_conv)?;
        drop((by_active, conv));
        look();
        ops::conv2d_backward_filters(input, &by_conv, &mut self.by_filters, Conv2dGeometry::default())?;
        drop(by_conv);
        look();

        ops::axpy_self(&self.by_filters, &mut self.filters, -0.05)?;
        ops::axpy_self(&self.by_weights, &mut self.weights, -0.05)?;
        ops::fill(&mut self.by_filters, 0.0)?;
        ops::fill(&mut self.by_weights, 0.0)?;
        look();
        Ok(())
    }

    fn bits(&self) -> Result<Vec<u32>> {
        let values = self.filters.to_vec()?.into_iter().chain(self.weights.to_vec()?);
        Ok(values.chain(self.loss.to_vec()?).map(f32::to_bits).collect())
    }
}

#[derive(Clone, Copy)]
enum Way {
    OneArena,
    TwoArenas,
    Alone,
}

impl Way {
    const ALL: [Way; 3] = [Way::OneArena, Way::TwoArenas, Way::Alone];

    fn name(self) -> &'static str {
        match self {
            Way::OneArena => "one arena a step",
            Way::TwoArenas => "forward and backward arenas",
            Way::Alone => "each array on its own",
        }
    }

    fn color(self) -> RGBColor {
        match self {
            Way::OneArena => RGBColor(0, 114, 178),
            Way::TwoArenas => RGBColor(0, 158, 115),
            Way::Alone => RGBColor(213, 94, 0),
        }
    }
}

/// Memory at one moment: steps done, megabytes reserved and in use.
type Sample = (f64, f64, f64);

struct Outcome {
    samples_per_second: f64,
    peak_mb: f64,
    bits: Vec<u32>,
    memory: Vec<Sample>,
}

fn run(way: Way, workers: usize, batch: usize, steps: usize, sampled: bool) -> Result<Outcome> {
    let rt = Runtime::builder().cpu_workers(workers).tasks_in_flight(TASKS_IN_FLIGHT).build()?;
    let mut network = Network::new(&rt)?;
    let data = Synthetic::new(&[1, 28, 28], 10, batch, 3);
    let mut features = vec![0.0; batch * 784];
    for (index, sample) in features.chunks_mut(784).enumerate() {
        data.copy_sample(index, sample);
    }
    let input = rt.from_vec([batch, 1, 28, 28], features)?;
    let labels = rt.from_vec([batch], (0..batch).map(|index| data.label(index)).collect())?;
    let (mut forward, mut backward) = (rt.arena(), rt.arena());
    rt.wait()?;
    let mut memory = Vec::new();
    let start = Instant::now();
    for step in 0..steps {
        let mut count = 0.0;
        let mut look = || {
            count += 1.0;
            if sampled {
                let node = &rt.memory()[0];
                let time = step as f64 + count / 9.0;
                memory.push((time, node.reserved_bytes as f64 / MB, node.current_bytes as f64 / MB));
            }
        };
        let places = match way {
            Way::OneArena => (ArraySource::Arena(&forward), ArraySource::Arena(&forward)),
            Way::TwoArenas => (ArraySource::Arena(&forward), ArraySource::Arena(&backward)),
            Way::Alone => (ArraySource::Alone(&rt), ArraySource::Alone(&rt)),
        };
        network.step((&places.0, &places.1), &input, &labels, &mut look)?;
        forward.reset();
        backward.reset();
    }
    rt.wait()?;
    let samples_per_second = (steps * batch) as f64 / start.elapsed().as_secs_f64();
    let peak_mb = rt.memory()[0].peak_bytes as f64 / MB;
    Ok(Outcome { samples_per_second, peak_mb, bits: network.bits()?, memory })
}

type Plotted = std::result::Result<(), Box<dyn std::error::Error>>;

fn plot(path: &str, curves: &[(Way, Vec<Sample>)]) -> Plotted {
    let root = SVGBackend::new(path, (900, 640)).into_drawing_area();
    root.fill(&WHITE)?;
    let most = curves.iter().flat_map(|(_, memory)| memory).map(|sample| sample.1).fold(0.0, f64::max);
    let panels = root.split_evenly((2, 1));
    for (panel, reserved) in panels.iter().zip([true, false]) {
        let title =
            if reserved { "Reserved from the system" } else { "In use by arrays and tasks in flight" };
        let mut chart = ChartBuilder::on(panel)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(if reserved { 24 } else { 40 })
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..PLOTTED_STEPS as f64, 0.0..most * 1.12)?;
        let mut mesh = chart.configure_mesh();
        mesh.y_desc("MB").y_labels(6).x_labels(PLOTTED_STEPS).y_label_formatter(&|mb| format!("{mb:.0}"));
        mesh.x_label_formatter(&|step| format!("{step:.0}")).label_style(("sans-serif", 13));
        mesh.axis_desc_style(("sans-serif", 14)).light_line_style(WHITE).bold_line_style(BLACK.mix(0.12));
        if !reserved {
            mesh.x_desc("training steps submitted");
        }
        mesh.draw()?;
        for (way, memory) in curves {
            let line = memory.iter().map(|&(step, all, used)| (step, if reserved { all } else { used }));
            let series = chart.draw_series(LineSeries::new(line, way.color().stroke_width(2)))?;
            let color = way.color();
            series.label(way.name()).legend(move |(left, middle)| {
                PathElement::new([(left, middle), (left + 24, middle)], color.stroke_width(3))
            });
        }
        if reserved {
            let mut labels = chart.configure_series_labels();
            labels.position(SeriesLabelPosition::UpperLeft).label_font(("sans-serif", 14));
            labels
                .legend_area_size(32)
                .margin(10)
                .background_style(WHITE.mix(0.85))
                .border_style(BLACK.mix(0.3));
            labels.draw()?;
        }
    }
    root.present()?;
    Ok(())
}

/// Prints what each way costs, in turn so that a machine that changes its speed favours none.
fn compare(workers: usize, batch: usize) -> Result<()> {
    let steps = STEPS * PLOTTED_BATCH / batch / if batch < PLOTTED_BATCH { 4 } else { 1 };
    let mut speeds = [const { Vec::new() }; 3];
    let mut peaks = [0.0_f64; 3];
    let mut expected: Option<Vec<u32>> = None;
    for _ in 0..REPEATS {
        for (index, way) in Way::ALL.into_iter().enumerate() {
            let outcome = run(way, workers, batch, steps, false)?;
            assert!(*expected.get_or_insert_with(|| outcome.bits.clone()) == outcome.bits, "{}", way.name());
            speeds[index].push(outcome.samples_per_second);
            peaks[index] = peaks[index].max(outcome.peak_mb);
        }
    }
    for (way, (mut speeds, peak_mb)) in Way::ALL.into_iter().zip(speeds.into_iter().zip(peaks)) {
        speeds.sort_by(f64::total_cmp);
        println!("| {batch} | {} | {:.0} | {peak_mb:.1} |", way.name(), speeds[REPEATS / 2]);
    }
    Ok(())
}

fn main() -> Plotted {
    let workers = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(2);
    println!("{workers} workers, medians of {REPEATS} runs; results bitwise equal");
    println!("| batch | arrays in | samples/s | peak reserved, MB |\n|---:|---|---:|---:|");
    for batch in BATCHES {
        compare(workers, batch)?;
    }
    let mut curves = Vec::new();
    for way in Way::ALL {
        curves.push((way, run(way, workers, PLOTTED_BATCH, PLOTTED_STEPS, true)?.memory));
    }
    plot(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/images/memory.svg"), &curves)
}
