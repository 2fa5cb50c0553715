//! [`WorkerInfo`]: a worker, as schedulers, traces and models see it.

use crate::topology::Processor;

/// A worker, as described to schedulers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerInfo {
    /// Its name: `cpu 0`, `cuda 0`, or the simulated device's.
    pub name: String,
    /// Its kind: `cpu`, or the device's name. Workers of one kind share performance models.
    pub kind: String,
    /// The memory node that its kernels work in: 0 is the main memory.
    pub node: usize,
    /// The processor that it is bound to, if any.
    pub processor: Option<usize>,
    /// The NUMA node of that processor.
    pub numa_node: Option<usize>,
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

    /// The worker of a CUDA device, whose kind is the device's name by its maker.
    pub(crate) fn cuda(index: usize, kind: &str) -> Self {
        Self { name: worker_name(index), ..Self::device(index, kind) }
    }

    /// Whether it is a core of the host.
    pub fn is_cpu(&self) -> bool {
        self.node == 0
    }
}

/// The kind of CPU workers.
pub(crate) const CPU: &str = "cpu";

/// The name of the worker of CUDA device `index`, and of its memory.
pub(crate) fn worker_name(index: usize) -> String {
    format!("cuda {index}")
}
