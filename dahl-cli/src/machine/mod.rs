//! `dahl machine`: the processors and devices of the machine, which of them a runtime uses, and the bandwidth of
//! memory.
//!
//! Sizes and counts are reported by the system, bandwidths and powers are measured here, and those of links to virtual devices
//! come from their model. The report tells which is which, and lists absent parts.

mod absent;
mod bandwidth;
pub(crate) mod calibrate;
mod energy;
mod links;
mod memory;
mod processor;
mod report;

use std::path::PathBuf;

use dahl::{Machine, Runtime};
use serde::Serialize;

use crate::output::Output;
use crate::trouble::Trouble;
use absent::Absence;
use bandwidth::Bandwidth;
use energy::Energy;
use links::Link;
use memory::Memory;
use processor::Processors;

const EXAMPLES: &str = "\
Examples:
  dahl machine
  dahl machine --no-measurements
  DAHL_NCPU=4 DAHL_MACHINE=machine.toml dahl machine --json";

/// The arguments of `dahl machine`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The model of a machine to be simulated, as in `docs/devices.md`.
    #[arg(long, value_name = "FILE", env = "DAHL_MACHINE", hide_env_values = true)]
    model: Option<PathBuf>,
    /// Measures no bandwidths and powers, which takes some seconds.
    #[arg(long)]
    no_measurements: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Measures this machine, and prints its machine file, by which programs are simulated.
    Calibrate(calibrate::Arguments),
}

/// The report.
#[derive(Serialize)]
struct Report {
    host: String,
    processors: Processors,
    memory: Memory,
    runtime: RuntimeFacts,
    /// Absent if not measured.
    bandwidth: Option<Bandwidth>,
    links: Vec<Link>,
    energy: Energy,
    absent: Vec<Absence>,
}

/// The runtime with the settings of the environment.
#[derive(Serialize)]
struct RuntimeFacts {
    scheduler: &'static str,
    /// Whether time is virtual.
    simulated: bool,
    /// The file of the simulated machine.
    model: Option<PathBuf>,
    workers: Vec<Worker>,
    nodes: Vec<Node>,
}

/// A worker of the runtime.
#[derive(Serialize)]
struct Worker {
    number: usize,
    name: String,
    kind: String,
    node: usize,
    /// The processor that it is bound to.
    processor: Option<usize>,
    /// The NUMA node of that processor.
    numa_node: Option<usize>,
    /// Its modelled speed.
    modelled: Option<Modelled>,
}

/// The speed of a worker by the model.
#[derive(Clone, Serialize)]
struct Modelled {
    gflops: f64,
    gbytes_per_s: f64,
    overhead_us: f64,
}

/// A memory node.
#[derive(Serialize)]
struct Node {
    number: usize,
    name: String,
    limit_bytes: Option<usize>,
}

pub(crate) fn run(arguments: &Arguments, output: &Output) -> Result<(), Trouble> {
    if let Some(Action::Calibrate(calibrate)) = &arguments.action {
        return calibrate::run(calibrate, output);
    }
    let path = arguments.model.clone().filter(|path| !path.as_os_str().is_empty());
    let model = path.as_ref().map(Machine::from_file).transpose()?;
    let runtime = RuntimeFacts::of(&runtime(model.as_ref())?, model.as_ref(), path);
    let bandwidth = match arguments.no_measurements {
        true => None,
        false => Some(Bandwidth::measure(output)?),
    };
    let (energy, uncounted) = Energy::watch(!arguments.no_measurements);
    output.show(&Report {
        host: host(),
        processors: Processors::here(),
        memory: Memory::here(),
        links: model.as_ref().map(links::of_model).unwrap_or_default(),
        absent: absent::absences(&runtime, &uncounted),
        energy,
        runtime,
        bandwidth,
    })
}

/// A runtime with the settings of the environment.
fn runtime(model: Option<&Machine>) -> dahl::Result<Runtime> {
    match model {
        Some(model) => Runtime::builder().virtual_machine(model.clone()).build(),
        None => Runtime::new(),
    }
}

fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(name.trim()).filter(|name| !name.is_empty()).unwrap_or("localhost").to_owned()
}

impl RuntimeFacts {
    fn of(rt: &Runtime, model: Option<&Machine>, path: Option<PathBuf>) -> Self {
        let modelled = |node: usize| {
            let model = model?;
            let device = node.checked_sub(1).and_then(|device| model.devices.get(device));
            let speed = device.map_or(&model.cpu.speed, |device| &device.speed);
            let (gflops, gbytes_per_s, overhead_us) = (speed.gflops, speed.gbytes_per_s, speed.overhead_us);
            Some(Modelled { gflops, gbytes_per_s, overhead_us })
        };
        let workers = rt.worker_infos().iter().enumerate().map(|(number, info)| Worker {
            number,
            name: info.name.clone(),
            kind: info.kind.clone(),
            node: info.node,
            processor: info.processor,
            numa_node: info.numa_node,
            modelled: modelled(info.node),
        });
        let nodes = rt.memory().into_iter().enumerate();
        Self {
            scheduler: rt.scheduler(),
            simulated: model.is_some(),
            model: path,
            workers: workers.collect(),
            nodes: nodes
                .map(|(number, node)| Node { number, name: node.name, limit_bytes: node.limit_bytes })
                .collect(),
        }
    }
}
