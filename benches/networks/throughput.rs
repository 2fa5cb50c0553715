//! One row of the comparison with PyTorch: trains a network and prints the speed of each epoch as a line of JSON.
//!
//! `cargo bench -p dahl-benches --bench throughput -- --network small --type f32 --batch-size 10 --workers 1 --samples 6000`.
//! `benches/pytorch/compare.py` runs it, and the same network in PyTorch, in turn; `scripts/gpu_check.sh` on CUDA devices: `--scheduler dmda`,
//! or `--on-devices`, where CPU workers get the tasks alone that no device can run.
//!
//! Forward, loss and accuracy, backward and update of every batch, on the first samples of Fashion-MNIST in their order.

use std::path::PathBuf;

use dahl::prelude::*;
use dahl_nn::dataset::Images;
use dahl_nn::prelude::*;
use lexopt::prelude::*;
use on_devices::OnDevices;
use peak::peak_resident_bytes;

#[path = "../on_devices.rs"]
mod on_devices;
mod peak;

struct Settings {
    network: String,
    element: String,
    batch_size: usize,
    workers: usize,
    samples: usize,
    epochs: usize,
    micro_batch_size: Option<usize>,
    scheduler: Option<String>,
    on_devices: bool,
    data: Option<PathBuf>,
}

impl Settings {
    fn parse() -> Result<Self, lexopt::Error> {
        let mut settings = Self {
            network: "small".to_owned(),
            element: "f32".to_owned(),
            batch_size: 10,
            workers: 1,
            samples: 6000,
            epochs: 4,
            micro_batch_size: None,
            scheduler: None,
            on_devices: false,
            data: None,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("network") => settings.network = parser.value()?.string()?,
                Long("type") => settings.element = parser.value()?.string()?,
                Long("batch-size") => settings.batch_size = parser.value()?.parse()?,
                Long("workers") => settings.workers = parser.value()?.parse()?,
                Long("samples") => settings.samples = parser.value()?.parse()?,
                Long("epochs") => settings.epochs = parser.value()?.parse()?,
                Long("micro-batch-size") => settings.micro_batch_size = Some(parser.value()?.parse()?),
                Long("scheduler") => settings.scheduler = Some(parser.value()?.string()?),
                Long("on-devices") => settings.on_devices = true,
                Long("data") => settings.data = Some(parser.value()?.into()),
                Long("bench") => {} // cargo says so
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }
}

/// The network of that name, for images of 28 by 28.
fn network<'m, T: Real>(arena: &'m Arena, name: &str) -> dahl::Result<Option<Sequential<'m, T>>> {
    let model = Sequential::new(arena, [1, 28, 28], 42);
    Ok(Some(match name {
        "small" => model.conv2d(4, 3)?.relu()?.max_pool2d(2)?.flatten()?.dense(10)?,
        "mnist" => {
            let features = model.conv2d(32, 3)?.relu()?.conv2d(64, 3)?.relu()?.max_pool2d(2)?;
            features.flatten()?.dense(128)?.relu()?.dense(10)?
        }
        _ => return Ok(None),
    }))
}

fn run<T: Real>(settings: &Settings, data: &Images) -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Runtime::builder().cpu_workers(settings.workers);
    if let Some(scheduler) = &settings.scheduler {
        builder = builder.scheduler(scheduler);
    }
    if settings.on_devices {
        builder = builder.custom_scheduler(OnDevices::default());
    }
    let rt = builder.build()?;
    let arena = rt.arena();
    let mut model = network::<T>(&arena, &settings.network)?.ok_or("a network is `small` or `mnist`")?;
    let trainer = Trainer::new(&mut model, CrossEntropy, Sgd::new(0.01));
    let mut trainer = trainer.batch_size(settings.batch_size).epochs(settings.epochs).no_shuffle();
    if let Some(samples) = settings.micro_batch_size {
        trainer = trainer.micro_batch_size(samples);
    }
    let history = trainer.fit(data)?;
    let epochs: Vec<_> = history.epochs.iter().map(|epoch| epoch.samples_per_second).collect();
    let last = history.epochs.last().ok_or("no epoch")?;
    let line = serde_json::json!({
        "samples_per_second": epochs,
        "loss": last.loss,
        "accuracy": last.accuracy,
        "peak_resident_bytes": peak_resident_bytes(),
    });
    println!("{line}");
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::parse()?;
    let data = match &settings.data {
        Some(folder) => FashionMnist::open(folder)?,
        None => FashionMnist::embedded()?,
    };
    let data = data.train.limited(settings.samples);
    match settings.element.as_str() {
        "f16" => run::<dahl::f16>(&settings, &data),
        "bf16" => run::<dahl::bf16>(&settings, &data),
        "f32" => run::<f32>(&settings, &data),
        "f64" => run::<f64>(&settings, &data),
        other => Err(format!("a type is f16, bf16, f32 or f64, not `{other}`").into()),
    }
}
