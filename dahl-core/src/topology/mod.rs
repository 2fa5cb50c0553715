//! [`Topology`]: the processors that this process may use, and which of them share a core or a memory; [`Binding`]:
//! which of them workers are bound to.
//!
//! On Linux the facts come from the system (`/sys/devices/system`). Elsewhere there are only numbers, and workers are
//! not bound.

mod binding;
mod list;

use std::collections::HashMap;
use std::fs;
use std::path::Path;

pub use binding::Binding;
#[cfg(not(dahl_fuzz))]
pub(crate) use binding::bind_this_thread;

/// The processors that this process may use.
///
/// ```
/// let topology = dahl_core::Topology::of_this_machine();
/// assert!(!topology.processors().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    processors: Vec<Processor>,
}

/// One hardware thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Processor {
    /// Its number.
    pub number: usize,
    /// The number of its core within the package. Processors of one core share its execution units.
    pub core: usize,
    /// The number of its package (socket).
    pub package: usize,
    /// The number of its nearest NUMA node.
    pub numa_node: usize,
}

impl Topology {
    /// The processors of this machine that this process may use.
    pub fn of_this_machine() -> Self {
        let allowed = binding::allowed().unwrap_or_else(|| {
            let count = std::thread::available_parallelism().map_or(1, |count| count.get());
            (0..count).collect()
        });
        Self::read(Path::new("/sys/devices/system"), &allowed)
    }

    /// The processors with these numbers, as described by the files below `root`. Missing values are 0; without a
    /// core's number, each processor is a core.
    fn read(root: &Path, numbers: &[usize]) -> Self {
        let nodes = numa_nodes(root);
        let processor = |&number: &usize| {
            let fact = |name: &str| number_in(&root.join(format!("cpu/cpu{number}/topology/{name}")));
            Processor {
                number,
                core: fact("core_id").unwrap_or(number),
                package: fact("physical_package_id").unwrap_or(0),
                numa_node: nodes.get(&number).copied().unwrap_or(0),
            }
        };
        Self { processors: numbers.iter().map(processor).collect() }
    }

    /// The processors in the order of their numbers.
    pub fn processors(&self) -> &[Processor] {
        &self.processors
    }

    /// The processor of that number, if this process may use it.
    pub fn processor(&self, number: usize) -> Option<&Processor> {
        self.processors.iter().find(|processor| processor.number == number)
    }

    /// The number of cores.
    pub fn cores(&self) -> usize {
        self.in_order().iter().filter(|(rank, _)| *rank == 0).count()
    }

    /// The processors in the order in which workers are bound to them: one of each core before a second of any, and
    /// cores of one memory node next to each other.
    pub fn binding_order(&self) -> Vec<usize> {
        self.in_order().into_iter().map(|(_, processor)| processor.number).collect()
    }

    /// Each processor with its index among those of its core, in binding order.
    fn in_order(&self) -> Vec<(usize, Processor)> {
        let mut of_core: HashMap<(usize, usize), usize> = HashMap::new();
        let mut ranked: Vec<_> = self
            .processors
            .iter()
            .map(|processor| {
                let seen = of_core.entry((processor.package, processor.core)).or_default();
                *seen += 1;
                (*seen - 1, *processor)
            })
            .collect();
        ranked.sort_by_key(|(rank, processor)| {
            (*rank, processor.numa_node, processor.package, processor.core, processor.number)
        });
        ranked
    }
}

/// The NUMA node of each processor, if it is in one.
fn numa_nodes(root: &Path) -> HashMap<usize, usize> {
    let mut nodes = HashMap::new();
    for entry in fs::read_dir(root.join("node")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let node = name.strip_prefix("node").and_then(|number| number.parse::<usize>().ok());
        let text = fs::read_to_string(entry.path().join("cpulist"));
        if let (Some(node), Ok(text)) = (node, text) {
            for processor in list::parse(&text).unwrap_or_default() {
                nodes.insert(processor, node);
            }
        }
    }
    nodes
}

fn number_in(path: &Path) -> Option<usize> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// Two packages of two cores of two threads; the memory of the first is node 0. Numbers alternate between cores,
    /// and second threads come last.
    fn described() -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..8 {
            let core = 3 - number % 4;
            let topology = dir.path().join(format!("cpu/cpu{number}/topology"));
            fs::create_dir_all(&topology).unwrap();
            fs::write(topology.join("core_id"), format!("{}\n", core % 2)).unwrap();
            fs::write(topology.join("physical_package_id"), format!("{}\n", core / 2)).unwrap();
        }
        for (node, text) in [(0, "2-3,6-7\n"), (1, "0-1,4-5\n")] {
            let node = dir.path().join(format!("node/node{node}"));
            fs::create_dir_all(&node).unwrap();
            fs::write(node.join("cpulist"), text).unwrap();
        }
        dir
    }

    #[test]
    fn cores_come_before_second_threads_and_memory_by_memory() {
        let dir = described();
        let topology = Topology::read(dir.path(), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(topology.binding_order(), [3, 2, 1, 0, 7, 6, 5, 4]);
        assert_eq!(topology.cores(), 4);
        let nodes: Vec<_> = topology.processors().iter().map(|processor| processor.numa_node).collect();
        assert_eq!(nodes, [1, 1, 0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn what_the_process_may_not_use_is_not_there() {
        let dir = described();
        let topology = Topology::read(dir.path(), &[2, 4, 5, 6]);
        assert_eq!(topology.binding_order(), [2, 5, 4, 6]);
        assert_eq!(topology.cores(), 3);
        assert_eq!(topology.processor(1), None);
        assert_eq!(topology.processor(5).map(|processor| processor.package), Some(1));
    }

    #[test]
    fn without_facts_each_processor_is_a_core() {
        let dir = tempfile::tempdir().unwrap();
        let topology = Topology::read(dir.path(), &[0, 1, 2]);
        assert_eq!((topology.cores(), topology.binding_order()), (3, vec![0, 1, 2]));
    }
}
