//! The programs whose placement is studied, and their machine.
//!
//! Tiles have 16 rows and represent tiles of 512: the machine is slower by the factor that makes all times those of the
//! larger ones. So a run costs a millisecond, and a search can make thousands.

#[path = "../../../examples/tiled_cholesky.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_cholesky;
#[path = "../../../examples/tiled_matmul.rs"]
#[allow(dead_code, reason = "the example's command line")]
pub mod tiled_matmul;

use dahl::{Machine, Runtime, RuntimeBuilder, Speed, VirtualDevice};
use dahl_nn::prelude::*;

/// Rows of a tile.
const TILE: usize = 16;

/// The factor between the rows of the tiles that are simulated and those that are computed.
const SCALE: f64 = 32.0;

/// CPU workers of the machine.
pub const CPU_WORKERS: usize = 2;

/// The factor between the speed of the device and that of a CPU worker.
pub const DEVICE_SPEED: f64 = 5.0;

/// A program whose tasks are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `c = a x b` in so many tiles each way.
    Matmul(usize),
    /// A factorisation in so many tiles each way.
    Cholesky(usize),
    /// Training a network with a convolution of so many filters, on parts of so many images, for so many steps.
    Cnn(usize, usize, usize),
}

/// The workers of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// Only CPU workers.
    Cpu,
    /// CPU workers and the device.
    Both,
}

impl Program {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Matmul(tiles) => format!("matmul, {tiles} x {tiles} tiles"),
            Self::Cholesky(tiles) => format!("Cholesky, {tiles} x {tiles} tiles"),
            Self::Cnn(filters, part, _) => format!("CNN, {filters} filters, {part} images"),
        }
    }

    /// The machine that it runs on.
    pub fn machine(self, workers: Workers) -> Machine {
        // The factors by which the computed program has fewer operations and bytes than the simulated one.
        let (flops, bytes) = match self {
            Self::Matmul(_) | Self::Cholesky(_) => (SCALE.powi(3), SCALE.powi(2)),
            Self::Cnn(..) => (1.0, 1.0),
        };
        let speed = Speed { gflops: 200.0 / flops, gbytes_per_s: 20.0 / bytes, ..Speed::default() };
        let device = VirtualDevice::new("gpu").speed(speed.times(DEVICE_SPEED)).link(10.0, 12.0 / bytes);
        let mut machine = Machine::default();
        machine.cpu.speed = speed;
        machine.devices = if workers == Workers::Both { vec![device] } else { Vec::new() };
        machine
    }

    /// Runs it on the machine, and returns its duration there, in nanoseconds.
    pub fn run(self, workers: Workers, builder: RuntimeBuilder) -> dahl::Result<Run> {
        let rt = builder.cpu_workers(CPU_WORKERS).virtual_machine(self.machine(workers)).build()?;
        match self {
            Self::Matmul(tiles) => multiply(&rt, tiles)?,
            Self::Cholesky(tiles) => factorise(&rt, tiles)?,
            Self::Cnn(filters, part, steps) => train(&rt, filters, part, steps)?,
        }
        rt.wait()?;
        let busy_us = rt.worker_uses().iter().map(|worker| worker.busy_us).collect();
        Ok(Run { ns: rt.clock().now_ns(), busy_us })
    }
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its duration.
    pub ns: u64,
    /// How long each worker ran tasks, in microseconds.
    pub busy_us: Vec<f64>,
}

fn multiply(rt: &Runtime, tiles: usize) -> dahl::Result<()> {
    let square = || tiled_matmul::Tiles::<f32>::square(rt, tiles * TILE, TILE);
    let (a, b, mut c) = (square()?, square()?, square()?);
    tiled_matmul::multiply(&a, &b, &mut c)
}

fn factorise(rt: &Runtime, tiles: usize) -> dahl::Result<()> {
    let mut identity = tiled_cholesky::Tiles::<f32>::lower(rt, tiles * TILE, TILE)?;
    for (i, row) in identity.rows_mut().iter_mut().enumerate() {
        row[i].write()?.diag_mut().fill(1.0);
    }
    tiled_cholesky::factorise(&mut identity)
}

/// Steps, each on a batch of 64 images in parts.
fn train(rt: &Runtime, filters: usize, part: usize, steps: usize) -> dahl::Result<()> {
    const BATCH: usize = 64;
    let network = rt.arena();
    let data = Synthetic::new(&[1, 28, 28], 10, steps * BATCH, 7);
    let mut model = Sequential::<f32>::new(&network, [1, 28, 28], 42)
        .conv2d(filters, 3)?
        .relu()?
        .max_pool2d(2)?
        .flatten()?
        .dense(10)?;
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.05));
    trainer.batch_size(BATCH).micro_batch_size(part).epochs(1).fit(&data)?;
    Ok(())
}
