//! [`Processors`]: the processors of this machine, their caches and instructions.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use dahl::{Processor, Topology, simd};
use serde::Serialize;

/// Instruction sets that kernels may use, as Linux names them.
const SETS: [&str; 14] = [
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "avx512f",
    "avx512bw",
    "avx512_vnni",
    "avx512_bf16",
    "avx512_fp16",
    "amx_bf16",
    "amx_int8",
    "asimd",
    "sve",
];

/// The processors that this process may use.
#[derive(Serialize)]
pub(super) struct Processors {
    /// The model's name.
    pub(super) name: String,
    pub(super) architecture: &'static str,
    pub(super) packages: usize,
    pub(super) cores: usize,
    pub(super) numa_nodes: usize,
    /// The hardware threads.
    pub(super) processors: Vec<HardwareThread>,
    pub(super) caches: Vec<Cache>,
    /// The level of dahl's loops: the best, or what DAHL_SIMD says.
    pub(super) simd: String,
    /// The levels that they were compiled for.
    pub(super) simd_compiled: Vec<String>,
    /// What the processor has of the sets that kernels may use.
    pub(super) instruction_sets: Vec<&'static str>,
}

/// The position of a hardware thread.
#[derive(Serialize)]
pub(super) struct HardwareThread {
    pub(super) number: usize,
    pub(super) core: usize,
    pub(super) package: usize,
    pub(super) numa_node: usize,
}

/// A cache of the first processor.
#[derive(Serialize)]
pub(super) struct Cache {
    pub(super) level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub(super) kind: String,
    pub(super) bytes: u64,
    /// The processors that share it, as Linux lists them.
    pub(super) shared_by: String,
}

impl Processors {
    pub(super) fn here() -> Self {
        let facts = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let topology = Topology::of_this_machine();
        let distinct = |fact: fn(&Processor) -> usize| {
            topology.processors().iter().map(fact).collect::<BTreeSet<_>>().len()
        };
        let flags: BTreeSet<_> = fact(&facts, "flags")
            .or_else(|| fact(&facts, "Features"))
            .unwrap_or_default()
            .split(' ')
            .collect();
        let place = |processor: &Processor| HardwareThread {
            number: processor.number,
            core: processor.core,
            package: processor.package,
            numa_node: processor.numa_node,
        };
        let first = topology.processors().first().map_or(0, |processor| processor.number);
        Self {
            name: fact(&facts, "model name").unwrap_or("unknown").to_owned(),
            architecture: std::env::consts::ARCH,
            packages: distinct(|processor| processor.package),
            cores: topology.cores(),
            numa_nodes: distinct(|processor| processor.numa_node),
            processors: topology.processors().iter().map(place).collect(),
            caches: caches(first),
            simd: simd::level().to_string(),
            simd_compiled: simd::Level::compiled().map(|level| level.to_string()).collect(),
            instruction_sets: SETS.into_iter().filter(|set| flags.contains(set)).collect(),
        }
    }
}

/// The first line with that name in `/proc/cpuinfo`.
fn fact<'f>(facts: &'f str, name: &str) -> Option<&'f str> {
    let line = facts.lines().find(|line| line.split(':').next().is_some_and(|own| own.trim() == name))?;
    Some(line.split_once(':')?.1.trim())
}

/// The caches of a processor by `/sys`; none if it does not describe them.
fn caches(processor: usize) -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{processor}/cache");
    let cache = |index: usize| cache(&Path::new(&folder).join(format!("index{index}")));
    (0..).map_while(cache).collect()
}

fn cache(folder: &Path) -> Option<Cache> {
    let fact = |name: &str| Some(fs::read_to_string(folder.join(name)).ok()?.trim().to_owned());
    Some(Cache {
        level: fact("level")?.parse().ok()?,
        kind: fact("type")?,
        bytes: fact("size")?.strip_suffix('K')?.parse::<u64>().ok()? << 10,
        shared_by: fact("shared_cpu_list").unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::fact;

    #[test]
    fn a_fact_is_found_by_its_whole_name() {
        let facts = "model\t\t: 17\nmodel name\t: AMD EPYC: Zen\n\nmodel name\t: another\n";
        assert_eq!(fact(facts, "model name"), Some("AMD EPYC: Zen"));
        assert_eq!(fact(facts, "flags"), None);
    }
}
