//! [`Platform`]: the workers of a runtime, their memories, and what is known of how long tasks take there.
//!
//! It answers what submitters and schedulers ask of a task's [description](TaskDesc). Not here: deciding (`scheduler`), and
//! running (`worker`).

use crate::codelet::{Codelet, Kernel};
use crate::description::{Action, Placement, TaskDesc};
use crate::device::Devices;
use crate::machine::WorkerInfo;
use crate::memory::{MemoryNode, MemoryUse};
use crate::observer::Forecast;
use crate::perf::{Estimate, Models};

/// The workers of a runtime, the memories of devices, and the measured durations.
pub(crate) struct Platform {
    workers: Vec<WorkerInfo>,
    cpu_workers: usize,
    cores: usize,
    /// The devices, if there are any.
    devices: Option<Devices>,
    /// Whether the machine is simulated.
    is_simulated: bool,
    models: Models,
}

impl Platform {
    /// The CPU workers come first.
    pub(crate) fn new(
        workers: Vec<WorkerInfo>,
        cores: usize,
        devices: Option<Devices>,
        is_simulated: bool,
        models: Models,
    ) -> Self {
        let cpu_workers = workers.iter().filter(|worker| worker.is_cpu()).count();
        Self { workers, cpu_workers, cores, devices, is_simulated, models }
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// The CPU workers, which come first.
    pub(crate) fn cpu_workers(&self) -> usize {
        self.cpu_workers
    }

    pub(crate) fn worker_infos(&self) -> &[WorkerInfo] {
        &self.workers
    }

    /// The description of a worker for schedulers.
    pub(crate) fn worker(&self, worker: usize) -> &WorkerInfo {
        &self.workers[worker]
    }

    pub(crate) fn cores(&self) -> usize {
        self.cores
    }

    /// The devices, simulated or real.
    pub(crate) fn devices(&self) -> Option<&Devices> {
        self.devices.as_ref()
    }

    /// Whether time is virtual, and workers are simulated.
    pub(crate) fn is_simulated(&self) -> bool {
        self.is_simulated
    }

    /// Whether there are workers of real devices.
    #[inline]
    pub(crate) fn has_real_devices(&self) -> bool {
        self.devices.is_some() && !self.is_simulated
    }

    /// Whether worker `worker` is one of a real device.
    pub(crate) fn is_real_device(&self, worker: usize) -> bool {
        self.has_real_devices() && !self.worker(worker).is_cpu()
    }

    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// The memory use of each memory node; `home` is the first.
    pub(crate) fn memory_uses(&self, home: &MemoryNode) -> Vec<MemoryUse> {
        let devices = self.devices().map(Devices::memories).unwrap_or_default();
        let of_devices = devices.iter().map(|device| device.memory().usage());
        std::iter::once(home.usage()).chain(of_devices).collect()
    }

    /// Whether worker `worker` is available and has a kernel of the codelet.
    pub(crate) fn has_kernel(&self, worker: usize, codelet: &Codelet) -> bool {
        let device = self.worker(worker).node.checked_sub(1);
        match (self.devices(), device) {
            (Some(devices), Some(device)) => devices.can_run(device, codelet),
            _ => true,
        }
    }

    /// Whether worker `worker` is of the kind that a kernel is for, and has the library that it calls.
    pub(crate) fn is_for(&self, worker: usize, kernel: &Kernel) -> bool {
        if !self.is_real_device(worker) {
            return !kernel.is_on_cuda();
        }
        let cuda = self.devices().and_then(|devices| devices.cuda(self.worker(worker).node));
        let has = |library| cuda.is_some_and(|cuda| cuda.has_library(library));
        kernel.is_on_cuda() && kernel.library().is_none_or(has)
    }

    /// Whether worker `worker` is one of the CPU, or of a device, real or simulated, that is not lost.
    pub(crate) fn works(&self, worker: usize) -> bool {
        let device = self.worker(worker).node.checked_sub(1);
        device.zip(self.devices()).is_none_or(|(device, devices)| !devices.is_lost(device))
    }

    /// Whether worker `worker` is a real device that is not lost.
    pub(crate) fn is_working_device(&self, worker: usize) -> bool {
        let device = self.worker(worker).node.checked_sub(1).filter(|_| self.has_real_devices());
        device.zip(self.devices()).is_some_and(|(device, devices)| !devices.is_lost(device))
    }

    /// Whether worker `worker` can run a task, which may prefer others.
    pub(crate) fn is_able(&self, worker: usize, task: &TaskDesc) -> bool {
        let has_kernel = match task.action() {
            Action::Kernel(call) => {
                self.has_kernel(worker, call.codelet)
                    && call.kernel.is_none_or(|kernel| self.is_for(worker, kernel))
            }
            Action::Program(_) => self.is_working_device(worker),
            _ => self.worker(worker).is_cpu() || self.can_reduce(worker, task),
        };
        has_kernel
            && match task.place() {
                Placement::Any | Placement::Prefers(_) => true,
                Placement::Worker(wanted) => worker == wanted,
                Placement::KindOf(wanted) => self.is_alike(worker, wanted),
            }
    }

    /// Whether two workers are of one kind.
    fn is_alike(&self, worker: usize, other: usize) -> bool {
        self.worker(worker).kind == self.worker(other).kind
    }

    /// Whether worker `worker` is a real device that can run a task of a reduction.
    fn can_reduce(&self, worker: usize, task: &TaskDesc) -> bool {
        let device = self.worker(worker).node.checked_sub(1).filter(|_| self.has_real_devices());
        let (Some(devices), Some(device)) = (self.devices(), device) else { return false };
        task.cuda_of_reduction().is_some_and(|instance| devices.may_load(device, instance))
    }
}

impl Forecast for Platform {
    fn can_run(&self, worker: usize, task: &TaskDesc) -> bool {
        self.is_able(worker, task)
            && match task.place() {
                Placement::Prefers(wanted) => self.is_alike(worker, wanted) || !self.is_able(wanted, task),
                Placement::Any | Placement::Worker(_) | Placement::KindOf(_) => true,
            }
    }

    fn expected(&self, worker: usize, task: &TaskDesc) -> Option<Estimate> {
        self.models.expected(&self.worker(worker).kind, self.is_real_device(worker), task)
    }
}
