//! [`Devices`]: the devices of a simulated machine, their memories, and the links over which elements come and go.

use std::sync::{Arc, PoisonError};

use super::machine::{Machine, VirtualDevice};
use super::memory::DeviceMemory;
use crate::clock::Clock;
use crate::memory::MemoryNode;
use crate::observer::Observer;
use crate::perf::TransferTime;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Elements that were copied from one memory node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transfer {
    /// The number of the array, or of the part.
    pub array: u32,
    /// The memory node that they came from; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The memory node that they went to.
    pub to: usize,
    /// How many bytes.
    pub bytes: usize,
}

/// What went from one memory node to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferTotal {
    /// The memory node that it came from; 0 is the main memory, and device `i` has node `i + 1`.
    pub from: usize,
    /// The memory node that it went to.
    pub to: usize,
    /// How many transfers.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// The devices of a simulated machine.
pub(crate) struct Devices {
    machine: Machine,
    memories: Vec<DeviceMemory>,
    lost: Vec<AtomicBool>,
    links: Mutex<Links>,
    clock: Clock,
    observer: Option<Arc<dyn Observer>>,
}

#[derive(Default)]
struct Links {
    /// For each device, when the link to it and the one from it are free again.
    free_ns: Vec<[u64; 2]>,
    totals: Vec<TransferTotal>,
}

impl Devices {
    pub(crate) fn new(machine: Machine, clock: Clock, observer: Option<Arc<dyn Observer>>) -> Self {
        let memory = |(index, device): (usize, &VirtualDevice)| {
            DeviceMemory::new(index + 1, MemoryNode::of_device(&device.name, device.limit_bytes()))
        };
        let memories: Vec<_> = machine.devices.iter().enumerate().map(memory).collect();
        let links = Links { free_ns: vec![[0; 2]; memories.len()], totals: Vec::new() };
        let lost = memories.iter().map(|_| AtomicBool::new(false)).collect();
        Self { machine, memories, lost, links: Mutex::new(links), clock, observer }
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The memory with the number `node`, which is not the main memory.
    pub(crate) fn memory(&self, node: usize) -> &DeviceMemory {
        &self.memories[node - 1]
    }

    pub(crate) fn memories(&self) -> &[DeviceMemory] {
        &self.memories
    }

    /// Whether device `device` is lost.
    pub(crate) fn is_lost(&self, device: usize) -> bool {
        self.lost[device].load(Ordering::Acquire)
    }

    /// Whether device `device` can run the codelet of that name.
    pub(crate) fn can_run(&self, device: usize, codelet: &str) -> bool {
        !self.is_lost(device) && self.machine.devices[device].speed.has(codelet)
    }

    /// Loses a device with all that is in its memory.
    pub(crate) fn lose(&self, device: usize) {
        self.lost[device].store(true, Ordering::Release);
        self.memories[device].lose();
    }

    /// How long a transfer would take, links being free.
    pub(crate) fn transfer_ns(&self, from: usize, to: usize, bytes: usize) -> u64 {
        let ends = [from, to].into_iter().filter(|&node| node > 0);
        ends.map(|node| self.machine.devices[node - 1].transfer_ns(bytes)).sum()
    }

    /// How long transfers take between each two memory nodes, links being free.
    pub(crate) fn transfer_times(&self) -> Vec<TransferTime> {
        let nodes = 0..=self.memories.len();
        let pairs = nodes.clone().flat_map(|from| nodes.clone().map(move |to| (from, to)));
        let between = |(from, to): (usize, usize)| {
            let ends = [from, to].into_iter().filter_map(|node| node.checked_sub(1));
            let devices = ends.map(|device| &self.machine.devices[device]);
            let ns_per_byte: f64 = devices.clone().map(|device| 1.0 / device.link_gbytes_per_s).sum();
            let latency_us = devices.map(|device| device.latency_us).sum();
            TransferTime { from, to, latency_us, gbytes_per_s: 1.0 / ns_per_byte }
        };
        pairs.filter(|(from, to)| from != to).map(between).collect()
    }

    /// Counts a transfer that begins as soon as the links are free. When it ends.
    pub(crate) fn charge(&self, transfer: Transfer) -> u64 {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let begin_ns = self.clock.now_ns();
        let mut end_ns = begin_ns;
        for (node, direction) in [(transfer.from, 1), (transfer.to, 0)] {
            if let Some(device) = node.checked_sub(1) {
                let free_ns = &mut links.free_ns[device][direction];
                end_ns = end_ns.max(*free_ns) + self.machine.devices[device].transfer_ns(transfer.bytes);
                *free_ns = end_ns;
            }
        }
        let pair = (transfer.from, transfer.to);
        let known = links.totals.iter().position(|total| (total.from, total.to) == pair);
        let place = known.unwrap_or(links.totals.len());
        if known.is_none() {
            links.totals.push(TransferTotal { from: pair.0, to: pair.1, count: 0, bytes: 0 });
        }
        links.totals[place].count += 1;
        links.totals[place].bytes += transfer.bytes as u64;
        drop(links);
        if let Some(observer) = &self.observer {
            observer.transferred(&transfer, begin_ns, end_ns);
        }
        end_ns
    }

    /// What went over the links so far.
    pub(crate) fn totals(&self) -> Vec<TransferTotal> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner).totals.clone()
    }
}
