//! One row of the comparison with PyTorch: steps of a network of dahl-nn's examples, or text that one writes.
//!
//! `cargo bench -p dahl-benches --bench steps -- --network gpt --type f32 --workers 1`, which then reads numbers of seconds from its
//! standard input. For each it goes on for so long, and prints the seconds and the loss of each step as a line of JSON.
//! `benches/pytorch/networks.py` runs it, and `benches/pytorch/steps.py`, in turn; `scripts/gpu_check.sh` on a CUDA device:
//! `--on-devices`, where CPU workers get the tasks alone that no device can run. With `--plans` it takes a step of each
//! memory plan, and prints their bytes as lines of JSON (`benches/pytorch/peaks.py`).

use std::io::{self, BufRead as _};
use std::path::PathBuf;
use std::time::Instant;

use dahl::prelude::*;
use lexopt::prelude::*;
use on_devices::OnDevices;
use peak::peak_resident_bytes;

mod bandwidth;
#[allow(dead_code, reason = "the examples use the rest")]
#[path = "../../../dahl-nn/examples/networks/char_lstm.rs"]
mod char_lstm;
#[allow(dead_code, reason = "the examples use the rest")]
#[path = "../../../dahl-nn/examples/networks/gpt.rs"]
mod gpt;
mod images;
#[path = "../../../dahl-nn/examples/networks/lenet.rs"]
mod lenet;
#[path = "../../on_devices.rs"]
mod on_devices;
#[path = "../peak.rs"]
mod peak;
mod plans;
#[path = "../../../dahl-nn/examples/networks/resnet.rs"]
mod resnet;
mod text;
mod writing;

/// What is printed of a step: its loss, or the token that was written.
pub(crate) type Outcome = f64;

pub(crate) struct Settings {
    network: String,
    element: String,
    pub(crate) workers: usize,
    /// Where the first weights are written, for the other program.
    pub(crate) save: Option<PathBuf>,
    /// Whether memory plans are printed.
    pub(crate) plans: bool,
    pub(crate) temperature: f64,
    on_devices: bool,
}

impl Settings {
    fn parse() -> Result<Self, lexopt::Error> {
        let (network, element) = ("gpt".to_owned(), "f32".to_owned());
        let mut settings = Self {
            network,
            element,
            workers: 1,
            save: None,
            plans: false,
            temperature: 0.8,
            on_devices: false,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                Long("network") => settings.network = parser.value()?.string()?,
                Long("type") => settings.element = parser.value()?.string()?,
                Long("workers") => settings.workers = parser.value()?.parse()?,
                Long("save") => settings.save = Some(parser.value()?.into()),
                Long("plans") => settings.plans = true,
                Long("temperature") => settings.temperature = parser.value()?.parse()?,
                Long("on-devices") => settings.on_devices = true,
                Long("bench") => {} // cargo says so
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }

    /// The runtime in which the network is.
    pub(crate) fn runtime(&self) -> dahl::Result<Runtime> {
        let builder = Runtime::builder().cpu_workers(self.workers).rand_seed(42);
        if self.on_devices { builder.custom_scheduler(OnDevices::default()).build() } else { builder.build() }
    }

    fn run<T: Real>(&self) -> Result<(), Box<dyn std::error::Error>> {
        match self.network.as_str() {
            "gpt" => text::gpt::<T>(self, &text::GPT),
            "gpt-tiny" => text::gpt::<T>(self, &text::GPT_TINY),
            "gpt2" => text::gpt::<T>(self, &text::GPT2),
            "lstm" => text::lstm::<T>(self),
            "resnet20" => images::resnet20::<T>(self),
            "lenet" => images::lenet::<T>(self),
            "writing" => writing::run::<T>(self),
            "bandwidth" => bandwidth::run(self),
            other => Err(format!("no network is called `{other}`").into()),
        }
    }
}

/// Answers each line of the standard input: takes steps for so many seconds, two at least.
pub(crate) fn serve(
    rt: &Runtime,
    mut step: impl FnMut() -> dahl::Result<Outcome>,
) -> Result<(), Box<dyn std::error::Error>> {
    for line in io::stdin().lock().lines() {
        let most: f64 = line?.trim().parse()?;
        let (mut seconds, mut outcomes) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while seconds.len() < 2 || began.elapsed().as_secs_f64() < most {
            let start = Instant::now();
            outcomes.push(step()?);
            seconds.push(start.elapsed().as_secs_f64());
        }
        rt.wait()?;
        let memory = peak_resident_bytes();
        let line =
            serde_json::json!({ "seconds": seconds, "outcomes": outcomes, "peak_resident_bytes": memory });
        println!("{line}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::parse()?;
    match settings.element.as_str() {
        "bf16" => settings.run::<dahl::bf16>(),
        "f32" => settings.run::<f32>(),
        "f64" => settings.run::<f64>(),
        other => Err(format!("a type is bf16, f32 or f64, not `{other}`").into()),
    }
}
