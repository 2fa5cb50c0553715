//! [`Devices`]: the devices of a runtime, their memories, and the links for transfers.

use std::sync::{Arc, PoisonError};

use super::memory::DeviceMemory;
use super::real::CudaSetting;
use crate::clock::Clock;
use crate::codelet::{Codelet, Kernel};
use crate::cuda::{CudaDevice, CudaInstance, Moved};
use crate::machine::{Machine, Transfer, TransferTotal, VirtualDevice, worker_name};
use crate::memory::{MemoryNode, NotesBytes};
use crate::perf::TransferTime;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::trace::Recorder;

/// The devices of a runtime: those of a simulated machine, or real ones.
pub(crate) struct Devices {
    /// For real devices: their names and links.
    machine: Machine,
    memories: Vec<DeviceMemory>,
    lost: Vec<AtomicBool>,
    links: Mutex<Links>,
    clock: Clock,
    /// Whether an observer will [take](Self::take_unseen) the transfers.
    is_observed: bool,
    recorder: Option<Arc<Recorder>>,
}

#[derive(Default)]
struct Links {
    /// For each device, when the link to it and the one from it become free.
    free_ns: Vec<[u64; 2]>,
    totals: Vec<TransferTotal>,
    /// Transfers that the observer has not been shown: transfer, begin, end.
    unseen: Vec<(Transfer, u64, u64)>,
}

/// The links of a device: to it, and from it.
const TO: usize = 0;
const FROM: usize = 1;

impl Links {
    fn count(&mut self, transfer: Transfer, time_ns: u64) {
        let Transfer { from, to, bytes, .. } = transfer;
        let place = self.totals.iter().position(|total| (total.from, total.to) == (from, to));
        let place = place.unwrap_or_else(|| {
            self.totals.push(TransferTotal { from, to, ..TransferTotal::default() });
            self.totals.len() - 1
        });
        self.totals[place].count += 1;
        self.totals[place].bytes += bytes as u64;
        self.totals[place].time_ns += time_ns;
    }
}

/// The recorder, in the type for memory nodes.
fn noting(recorder: &Option<Arc<Recorder>>) -> Option<Arc<dyn NotesBytes>> {
    recorder.clone().map(|recorder| recorder as Arc<dyn NotesBytes>)
}

impl Devices {
    pub(crate) fn new(
        machine: Machine,
        clock: Clock,
        is_observed: bool,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        let memory = |(index, device): (usize, &VirtualDevice)| {
            let node = index + 1;
            let memory = MemoryNode::of_device(&device.name, device.limit_bytes());
            DeviceMemory::new(node, memory.recorded(node, noting(&recorder)), None)
        };
        let memories: Vec<_> = machine.devices.iter().enumerate().map(memory).collect();
        let links = Links { free_ns: vec![[0; 2]; memories.len()], ..Links::default() };
        let lost =
            machine.devices.iter().map(|device| AtomicBool::new(device.lost_after == Some(0))).collect();
        Self { machine, memories, lost, links: Mutex::new(links), clock, is_observed, recorder }
    }

    /// CUDA devices.
    pub(crate) fn real(
        found: Vec<CudaSetting>,
        clock: Clock,
        is_observed: bool,
        recorder: Option<Arc<Recorder>>,
    ) -> Self {
        let machine =
            Machine { devices: found.iter().map(CudaSetting::model).collect(), ..Machine::default() };
        let mut devices = Self::new(machine, clock, is_observed, recorder.clone());
        let memory = |(index, CudaSetting { device, limit_bytes }): (usize, CudaSetting)| {
            let node = index + 1;
            let memory = MemoryNode::of_device(&worker_name(index), Some(limit_bytes));
            DeviceMemory::new(node, memory.recorded(node, noting(&recorder)), Some(device))
        };
        devices.memories = found.into_iter().enumerate().map(memory).collect();
        devices
    }

    /// The device of memory node `node`, if it is a CUDA device.
    pub(crate) fn cuda(&self, node: usize) -> Option<&Arc<CudaDevice>> {
        self.memories.get(node.checked_sub(1)?)?.cuda()
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

    /// Whether device `device` can run this codelet.
    pub(crate) fn can_run(&self, device: usize, codelet: &Codelet) -> bool {
        if self.is_lost(device) {
            return false;
        }
        match self.memories[device].cuda() {
            Some(cuda) => {
                let is_there = |call: &Kernel| call.library().is_none_or(|library| cuda.has_library(library));
                codelet.cuda.is_some_and(|instance| self.memories[device].may_load(instance))
                    || codelet.cuda_calls.iter().any(is_there)
            }
            None => self.machine.devices[device].speed.has(codelet.name),
        }
    }

    /// Whether device `device` is a CUDA device that is not lost, and has loaded the kernel or may load it.
    pub(crate) fn may_load(&self, device: usize, instance: CudaInstance) -> bool {
        !self.is_lost(device) && self.memories[device].may_load(instance)
    }

    /// Marks a device as lost with everything in its memory. The caller holds no lock. False if it was lost already.
    pub(crate) fn lose(&self, device: usize) -> bool {
        let was_lost = self.lost[device].swap(true, Ordering::AcqRel);
        self.memories[device].lose(self.memories[device].memory().name());
        !was_lost
    }

    /// The duration of a transfer on free links.
    pub(crate) fn transfer_ns(&self, from: usize, to: usize, bytes: usize) -> u64 {
        let ends = [from, to].into_iter().filter(|&node| node > 0);
        ends.map(|node| self.machine.devices[node - 1].transfer_ns(bytes)).sum()
    }

    /// The durations of transfers between each two memory nodes, on free links.
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

    /// Counts a transfer that begins at `there_ns`, or as soon after that as the links are free. Returns its end.
    pub(crate) fn charge(&self, transfer: Transfer, there_ns: u64) -> u64 {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let mut end_ns = self.clock.now_ns().max(there_ns);
        let mut begin_ns = None;
        for (node, direction) in [(transfer.from, FROM), (transfer.to, TO)] {
            if let Some(device) = node.checked_sub(1) {
                let free_ns = &mut links.free_ns[device][direction];
                let from_ns = end_ns.max(*free_ns);
                begin_ns.get_or_insert(from_ns);
                end_ns = from_ns.saturating_add(self.machine.devices[device].transfer_ns(transfer.bytes));
                *free_ns = end_ns;
            }
        }
        let begin_ns = begin_ns.unwrap_or(end_ns);
        links.count(transfer, end_ns - begin_ns);
        if self.is_observed {
            links.unseen.push((transfer, begin_ns, end_ns));
        }
        if let Some(recorder) = &self.recorder {
            recorder.transferred(transfer, begin_ns, end_ns);
        }
        end_ns
    }

    /// Records that a transfer of a real device has begun.
    pub(crate) fn begin(&self, transfer: Transfer, moved: Moved) {
        let node = if transfer.to == 0 { transfer.from } else { transfer.to };
        self.memory(node).begin(transfer, moved);
    }

    /// Counts the transfers of real devices that have ended.
    pub(crate) fn count_ended(&self) {
        for memory in &self.memories {
            memory.take_ended(|transfer, begin_ns, end_ns| {
                let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
                links.count(transfer, end_ns.saturating_sub(begin_ns));
                if self.is_observed {
                    links.unseen.push((transfer, begin_ns, end_ns));
                }
                if let Some(recorder) = &self.recorder {
                    recorder.transferred(transfer, begin_ns, end_ns);
                }
            });
        }
    }

    /// The transfers that the observer has not seen, each with its begin and its end.
    pub(crate) fn take_unseen(&self) -> Vec<(Transfer, u64, u64)> {
        if !self.is_observed {
            return Vec::new();
        }
        std::mem::take(&mut self.links.lock().unwrap_or_else(PoisonError::into_inner).unseen)
    }

    /// The total transfers over the links so far.
    pub(crate) fn totals(&self) -> Vec<TransferTotal> {
        self.count_ended();
        self.links.lock().unwrap_or_else(PoisonError::into_inner).totals.clone()
    }
}
