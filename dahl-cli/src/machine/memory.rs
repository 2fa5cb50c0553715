//! [`Memory`]: the size of main memory.

use std::fs;

use serde::Serialize;

/// The main memory; figures that the system does not report are absent.
#[derive(Serialize)]
pub(super) struct Memory {
    pub(super) total_bytes: Option<u64>,
    /// The memory that programs could allocate without swapping.
    pub(super) available_bytes: Option<u64>,
    /// The limit of this process's control group, if any.
    pub(super) limit_bytes: Option<u64>,
    pub(super) numa_nodes: Vec<NumaNode>,
}

/// The memory of a NUMA node.
#[derive(Serialize)]
pub(super) struct NumaNode {
    pub(super) node: usize,
    pub(super) total_bytes: u64,
}

impl Memory {
    pub(super) fn here() -> Self {
        let facts = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let limit = fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
        let node = |node: usize| {
            let path = format!("/sys/devices/system/node/node{node}/meminfo");
            let total_bytes = bytes(&fs::read_to_string(path).ok()?, "MemTotal")?;
            Some(NumaNode { node, total_bytes })
        };
        Self {
            total_bytes: bytes(&facts, "MemTotal"),
            available_bytes: bytes(&facts, "MemAvailable"),
            limit_bytes: limit.and_then(|limit| limit.trim().parse().ok()),
            // Numbers of nodes may have gaps; there are few.
            numa_nodes: (0..1024).filter_map(node).collect(),
        }
    }
}

/// The figure with that name: lines look like `MemTotal: 16336848 kB`, after the node's own name if there is one.
fn bytes(facts: &str, name: &str) -> Option<u64> {
    let line = facts.lines().find_map(|line| line.split_once(name)?.1.strip_prefix(':'))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn figures_of_the_system_and_of_a_node() {
        let system = "MemTotal:       16336848 kB\nMemFree:          523 kB\n";
        assert_eq!(bytes(system, "MemTotal"), Some(16_336_848 << 10));
        assert_eq!(bytes("Node 0 MemTotal:       8 kB\n", "MemTotal"), Some(8 << 10));
        assert_eq!(bytes(system, "MemAvailable"), None);
    }
}
