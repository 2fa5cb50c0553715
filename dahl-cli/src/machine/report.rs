//! The report as text.

use std::fmt;

use super::bandwidth::Bandwidth;
use super::energy::Watched;
use super::memory::Memory;
use super::processor::{HardwareThread, Processors};
use super::{Report, RuntimeFacts, Worker};
use crate::output::HEADING;
use crate::table::Table;
use crate::units;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, processors, memory, runtime, bandwidth, .. } = self;
        writeln!(f, "{HEADING}{host}{HEADING:#}")?;
        write!(f, "{processors}{memory}")?;
        writeln!(f, "\n{HEADING}A runtime here{HEADING:#}, by the settings of the environment")?;
        write!(f, "{runtime}")?;
        self.links(f)?;
        match bandwidth {
            Some(bandwidth) => write!(f, "\n{bandwidth}")?,
            None => writeln!(f, "\n{HEADING}Memory copies{HEADING:#}: not measured")?,
        }
        self.energy(f)?;
        if self.absent.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{HEADING}Absent{HEADING:#}")?;
        self.absent.iter().try_for_each(|absence| line(f, absence.what, &absence.why))
    }
}

impl Report {
    fn links(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.links.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n{HEADING}Links{HEADING:#}, as the model has them: not measured")?;
        let mut table = Table::new(&["from", "to", ">latency", ">rate"]).indent(2);
        for link in &self.links {
            let rate = format!("{} GB/s", units::significant(link.gbytes_per_s));
            table.row([link.from.clone(), link.to.clone(), units::time(link.latency_us), rate]);
        }
        write!(f, "{table}")
    }
}

impl Report {
    fn energy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.energy.domains.is_empty() {
            return Ok(());
        }
        let measured = match self.energy.seconds {
            Some(seconds) => format!("measured for {}", units::time(seconds * 1e6)),
            None => "not measured".to_owned(),
        };
        writeln!(f, "\n{HEADING}Energy counters{HEADING:#}, {measured}")?;
        for Watched { counted, mean_watts } in &self.energy.domains {
            let source = counted.energy.source();
            let fact = match mean_watts {
                Some(watts) => format!("{} W, {source}", units::significant(*watts)),
                None if self.energy.seconds.is_none() => "there".to_owned(),
                None => source.to_string(),
            };
            let indent = if counted.within.is_some() { "  " } else { "" };
            line(f, &format!("{indent}{}", counted.name), &fact)?;
        }
        Ok(())
    }
}

/// A line with a name and a value.
fn line(f: &mut fmt::Formatter<'_>, name: &str, fact: &str) -> fmt::Result {
    writeln!(f, "  {name:<17} {fact}")
}

fn several(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, architecture, packages, cores, numa_nodes, processors, .. } = self;
        line(f, "processor", &format!("{name}, {architecture}"))?;
        let counts = [
            several(*packages, "package", "packages"),
            several(*cores, "core", "cores"),
            several(processors.len(), "hardware thread", "hardware threads"),
            several(*numa_nodes, "NUMA node", "NUMA nodes"),
        ];
        line(f, "usable", &counts.join(", "))?;
        if *numa_nodes > 1 {
            self.numa(f)?;
        }
        let caches = self.caches.iter().map(|cache| {
            let letter = match &*cache.kind {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let sharing = if cache.shared_by.contains(['-', ',']) {
                format!(" (processors {})", cache.shared_by)
            } else {
                String::new()
            };
            format!("L{}{letter} {}{sharing}", cache.level, units::bytes(cache.bytes as f64))
        });
        let caches = caches.collect::<Vec<_>>().join(", ");
        line(f, "caches", if caches.is_empty() { "the system does not say" } else { &caches })?;
        line(f, "instruction sets", &self.instruction_sets.join(" "))?;
        let compiled = self.simd_compiled.join(" ");
        line(f, "dahl's loops", &format!("level {} (DAHL_SIMD), compiled for {compiled}", self.simd))
    }
}

impl Processors {
    fn numa(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut nodes: Vec<_> = self.processors.iter().map(|place| place.numa_node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            let of_node = |place: &&HardwareThread| place.numa_node == node;
            let numbers: Vec<_> =
                self.processors.iter().filter(of_node).map(|place| place.number.to_string()).collect();
            line(f, &format!("NUMA node {node}"), &format!("processors {}", numbers.join(" ")))?;
        }
        Ok(())
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes: Option<u64>| bytes.map(|bytes| units::bytes(bytes as f64));
        let unknown = || "the system does not say".to_owned();
        let available = size(self.available_bytes).map(|bytes| format!(", {bytes} available"));
        let limit = size(self.limit_bytes).map(|bytes| format!(", limited to {bytes} for this process"));
        let rest = available.unwrap_or_default() + &limit.unwrap_or_default();
        line(f, "memory", &(size(self.total_bytes).unwrap_or_else(unknown) + &rest))?;
        if self.numa_nodes.len() > 1 {
            for node in &self.numa_nodes {
                line(f, &format!("NUMA node {}", node.node), &units::bytes(node.total_bytes as f64))?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for RuntimeFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        line(f, "scheduler", self.scheduler)?;
        match &self.model {
            Some(path) => line(f, "time", &format!("virtual, by the model {}", path.display()))?,
            None => line(f, "time", "real")?,
        }
        for node in &self.nodes {
            let limit = node.limit_bytes.map_or("no limit".to_owned(), |bytes| units::bytes(bytes as f64));
            line(f, &format!("memory node {}", node.number), &format!("{}: {limit}", node.name))?;
        }
        let mut headings = vec![">worker", "name", "kind", ">memory node", "bound to"];
        if self.simulated {
            headings.extend([">modelled compute", ">memory", ">each task"]);
        }
        let mut table = Table::new(&headings).indent(2);
        self.workers.iter().for_each(|worker| table.row(worker.cells()));
        write!(f, "{table}")
    }
}

impl Worker {
    fn cells(&self) -> Vec<String> {
        let bound = match (self.processor, self.numa_node) {
            (Some(processor), Some(node)) => format!("processor {processor}, NUMA node {node}"),
            (Some(processor), None) => format!("processor {processor}"),
            (None, _) => "-".to_owned(),
        };
        let mut cells =
            vec![self.number.to_string(), self.name.clone(), self.kind.clone(), self.node.to_string(), bound];
        if let Some(modelled) = &self.modelled {
            cells.push(format!("{} GFLOP/s", units::significant(modelled.gflops)));
            cells.push(format!("{} GB/s", units::significant(modelled.gbytes_per_s)));
            cells.push(units::time(modelled.overhead_us));
        }
        cells
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, rounds) = (units::bytes(self.buffer_bytes as f64), self.rounds);
        writeln!(f, "{HEADING}Memory copies{HEADING:#}, measured: the median of {rounds} copies of {bytes}")?;
        for core in &self.alone {
            let bound = if core.bound { "" } else { " (the thread could not be bound to it)" };
            let rate = units::significant(core.gbytes_per_s);
            line(f, &format!("processor {}", core.processor), &format!("{rate} GB/s alone{bound}"))?;
        }
        let rate = units::significant(self.together_gbytes_per_s);
        line(f, "all cores at once", &format!("{rate} GB/s"))?;
        match self.load.to_string() {
            load if load.is_empty() => Ok(()),
            load => write!(f, "  {load}"),
        }
    }
}
