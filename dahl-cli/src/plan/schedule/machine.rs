//! [`Described`]: the machine of a problem, from its file or from a machine file.

use std::path::Path;

use dahl::Speed;
use dahl_plan::schedule::{Link, Machine, Node, Worker};
use dahl_trace::Trace;
use serde::Deserialize;

use super::file::{TaskEntry, whole};
use crate::trouble::Trouble;

/// The machine in the file of a problem.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineFile {
    nodes: Vec<NodeEntry>,
    workers: Vec<WorkerEntry>,
    #[serde(default)]
    links: Vec<LinkEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeEntry {
    name: String,
    bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkerEntry {
    kind: String,
    node: String,
    #[serde(default = "one")]
    count: usize,
    #[serde(default)]
    watts: f64,
    #[serde(default)]
    idle_watts: f64,
}

fn one() -> usize {
    1
}

/// A link in both directions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkEntry {
    between: [String; 2],
    #[serde(default)]
    latency_us: f64,
    gbytes_per_s: f64,
    #[serde(default)]
    joules_per_gbyte: f64,
}

/// A kind of worker.
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) watts: f64,
    speed: Option<Speed>,
}

/// The name of main memory.
pub(super) const MAIN: &str = "main";

/// A machine with its names.
pub(super) struct Described {
    pub(super) machine: Machine,
    pub(super) kinds: Vec<Kind>,
    pub(super) workers: Vec<String>,
    /// The names of the workers in a runtime, if it is the machine of one.
    pub(super) in_runtime: Vec<String>,
    nodes: Vec<String>,
}

impl Kind {
    /// The microseconds of a task whose file has none for this kind, by the speed of the kind. `None` if it cannot run there.
    pub(super) fn us(&self, task: &TaskEntry) -> Option<f64> {
        let flops = (task.flops > 0.0).then_some(task.flops);
        self.speed.as_ref()?.us(task.codelet(), &task.footprint, flops, task.bytes)
    }
}

impl MachineFile {
    pub(super) fn described(&self) -> Result<Described, String> {
        let mut described = Described::default();
        for node in &self.nodes {
            described.nodes.push(node.name.clone());
            described.machine.nodes.push(Node { bytes: node.bytes });
        }
        for worker in &self.workers {
            let node = described.node(&worker.node)?;
            described.add(&worker.kind, node, worker.count, worker.watts, worker.idle_watts, None)?;
        }
        for link in &self.links {
            let [a, b] = [described.node(&link.between[0])?, described.node(&link.between[1])?];
            described.link(a, b, link.latency_us, link.gbytes_per_s, link.joules_per_gbyte)?;
        }
        Ok(described)
    }
}

impl Default for Described {
    fn default() -> Self {
        let machine = Machine::default();
        Self { machine, kinds: Vec::new(), workers: Vec::new(), in_runtime: Vec::new(), nodes: Vec::new() }
    }
}

impl Described {
    /// The machine of a machine file (`DAHL_MACHINE`), with so many workers of the CPU.
    ///
    /// Node 0 is `main`, that of device `i` is its worker's name. Each device has a link with main memory.
    pub(super) fn read(path: &Path, processors: usize) -> Result<Self, Trouble> {
        let file = dahl::Machine::from_file(path)?;
        let wrong = |fact: String| Trouble::Input(format!("{}: {fact}", path.display()));
        let mut described = Self { nodes: vec![MAIN.to_owned()], ..Self::default() };
        described.machine.nodes.push(Node::default());
        described.in_runtime.extend((0..processors).map(|worker| format!("cpu {worker}")));
        described.in_runtime.extend(file.devices.iter().map(|device| device.name.clone()));
        let (watts, idle) = (file.cpu.watts.unwrap_or(0.0), file.cpu.idle_watts.unwrap_or(0.0));
        described.add("cpu", 0, processors, watts, idle, Some(file.cpu.speed)).map_err(wrong)?;
        for device in file.devices {
            let node = described.machine.nodes.len();
            let bytes = device.memory_mb.map(|megabytes| (megabytes * 1_048_576.0) as u64);
            described.machine.nodes.push(Node { bytes });
            let (watts, idle) = (device.watts.unwrap_or(0.0), device.idle_watts.unwrap_or(0.0));
            described.add(&device.name, node, 1, watts, idle, Some(device.speed)).map_err(wrong)?;
            described.nodes.push(described.workers[described.workers.len() - 1].clone());
            described.link(0, node, device.latency_us, device.link_gbytes_per_s, 0.0).map_err(wrong)?;
        }
        Ok(described)
    }

    /// The workers of a run, in main memory. Their power is not known.
    pub(super) fn of_trace(trace: &Trace) -> Result<Self, String> {
        let mut described = Self { nodes: vec![MAIN.to_owned()], ..Self::default() };
        described.machine.nodes.push(Node::default());
        for worker in trace.workers().iter().filter(|worker| worker.number.is_some()) {
            described.add(&worker.kind, 0, 1, 0.0, 0.0, None)?;
            described.in_runtime.push(worker.name.clone());
        }
        Ok(described)
    }

    /// The number of a node.
    pub(super) fn node(&self, name: &str) -> Result<usize, String> {
        let found = self.nodes.iter().position(|node| node == name);
        found.ok_or_else(|| format!("there is no node {name:?}: expected one of {}", self.nodes.join(", ")))
    }

    fn add(
        &mut self,
        name: &str,
        node: usize,
        count: usize,
        watts: f64,
        idle_watts: f64,
        speed: Option<Speed>,
    ) -> Result<(), String> {
        let kind = self.kinds.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
            self.kinds.push(Kind { name: name.to_owned(), watts, speed });
            self.kinds.len() - 1
        });
        self.machine.kinds = self.kinds.len();
        let idle_milliwatts = whole(idle_watts, 1e3, &format!("the idle power of {name:?}"))?;
        for _ in 0..count {
            let number = self.machine.workers.iter().filter(|worker| worker.kind == kind).count();
            self.workers.push(format!("{name} {number}"));
            self.machine.workers.push(Worker { kind, node, idle_milliwatts });
        }
        Ok(())
    }

    fn link(
        &mut self,
        a: usize,
        b: usize,
        latency_us: f64,
        gbytes_per_s: f64,
        joules: f64,
    ) -> Result<(), String> {
        let latency_nanoseconds = whole(latency_us, 1e3, "the latency of a link")?;
        for (from, to) in [(a, b), (b, a)] {
            self.machine.links.push(Link {
                from,
                to,
                latency_nanoseconds,
                bytes_per_second: gbytes_per_s * 1e9,
                // A joule for 10^9 bytes is 1000 picojoules for each.
                picojoules_per_byte: joules * 1e3,
            });
        }
        Ok(())
    }
}
