//! [`Workers`]: what a scheduler chooses from.

use crate::clock::Clock;
use crate::topology::Processor;

/// The workers of a runtime, and its time.
#[derive(Clone, Debug)]
pub struct Workers {
    infos: Vec<WorkerInfo>,
    clock: Clock,
}

/// A worker, as schedulers know it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerInfo {
    /// Its name: `cpu 0`, or the device's.
    pub name: String,
    /// Its kind: `cpu`, or the device's name. Workers of one kind share performance models.
    pub kind: String,
    /// The memory node that its kernels work in: 0 is the main memory.
    pub node: usize,
    /// The processor that it is bound to, if it is.
    pub processor: Option<usize>,
    /// The NUMA node of that processor.
    pub numa_node: Option<usize>,
}

impl Workers {
    pub(crate) fn new(infos: Vec<WorkerInfo>, clock: Clock) -> Self {
        Self { infos, clock }
    }

    /// The workers in the order of their numbers.
    pub fn as_slice(&self) -> &[WorkerInfo] {
        &self.infos
    }

    /// The runtime's time.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }
}

impl WorkerInfo {
    pub(crate) fn cpu(worker: usize, processor: Option<Processor>) -> Self {
        Self {
            name: format!("cpu {worker}"),
            kind: CPU.to_owned(),
            node: 0,
            processor: processor.map(|processor| processor.number),
            numa_node: processor.map(|processor| processor.numa_node),
        }
    }

    pub(crate) fn device(index: usize, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: name.to_owned(),
            node: index + 1,
            processor: None,
            numa_node: None,
        }
    }

    /// Whether it is a core of the host.
    pub fn is_cpu(&self) -> bool {
        self.node == 0
    }
}

/// The kind of worker that a core is.
pub(crate) const CPU: &str = "cpu";
