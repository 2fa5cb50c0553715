//! A simulated machine on which a test chooses the worker of each task, and observes copies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dahl_core::observer::{Observer, Submission};
use dahl_core::{ReadyTask, Result, Runtime, Scheduler, Transfer, VirtualDevice};

use crate::coherence::kernels::M;

pub(crate) const ROWS: usize = 4;
pub(crate) const COLUMNS: usize = 4;
/// The length of an array, which takes 128 bytes, the size of a block.
pub(crate) const LEN: usize = ROWS * COLUMNS;

/// The CPU's worker, which is the only one.
pub(crate) const CPU: usize = 0;
/// The first device, and its memory node.
pub(crate) const GPU: usize = 1;
/// The second device, and its memory node.
pub(crate) const FAR: usize = 2;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A scheduler that sends each task to the worker named at its submission; folds to the CPU.
#[derive(Clone, Default)]
struct Directed {
    worker: Arc<AtomicUsize>,
    workers: Arc<Mutex<HashMap<u64, usize>>>,
    ready: Arc<Mutex<Vec<ReadyTask>>>,
}

impl Scheduler for Directed {
    fn name(&self) -> &'static str {
        "directed"
    }

    fn submitted(&self, task: &Submission<'_>) {
        lock(&self.workers).insert(task.sequence(), self.worker.load(Ordering::Relaxed));
    }

    fn push(&self, task: ReadyTask, _: Option<usize>) {
        lock(&self.ready).push(task);
    }

    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        let workers = lock(&self.workers);
        let mut ready = lock(&self.ready);
        let of = |task: &ReadyTask| workers.get(&task.sequence()).copied().unwrap_or(CPU);
        let place = ready.iter().position(|task| worker.is_none_or(|worker| of(task) == worker))?;
        Some(ready.remove(place))
    }
}

/// The copies: from, to, bytes.
#[derive(Default)]
struct Log(Mutex<Vec<(usize, usize, usize)>>);

impl Observer for Log {
    fn submitted(&self, _: &Submission<'_>) {}

    fn transferred(&self, transfer: &Transfer, _: u64, _: u64) {
        lock(&self.0).push((transfer.from, transfer.to, transfer.bytes));
    }
}

/// A machine of one CPU worker and devices.
pub(crate) struct Bed {
    pub(crate) rt: Runtime,
    worker: Arc<AtomicUsize>,
    log: Arc<Log>,
    /// The number of transfers that were taken from the log.
    seen: AtomicUsize,
}

impl Bed {
    /// A machine with two devices.
    pub(crate) fn new() -> Result<Self> {
        Self::with([VirtualDevice::new("gpu"), VirtualDevice::new("far")])
    }

    /// A machine with one device, whose memory holds so many arrays.
    pub(crate) fn with_room(arrays: usize) -> Result<Self> {
        Self::with([VirtualDevice::new("gpu").memory_mb((128 * arrays) as f64 / f64::from(1 << 20))])
    }

    pub(crate) fn with(devices: impl IntoIterator<Item = VirtualDevice>) -> Result<Self> {
        let (scheduler, log) = (Directed::default(), Arc::new(Log::default()));
        let worker = Arc::clone(&scheduler.worker);
        let builder = Runtime::builder().cpu_workers(1).custom_scheduler(scheduler).observer(log.clone());
        let rt = devices.into_iter().fold(builder, |builder, device| builder.virtual_device(device));
        Ok(Self { rt: rt.build()?, worker, log, seen: AtomicUsize::new(0) })
    }

    /// The worker for tasks that are submitted from now on.
    pub(crate) fn on(&self, worker: usize) {
        self.worker.store(worker, Ordering::Relaxed);
    }

    /// An array of 0, 1, 2, ..
    pub(crate) fn array(&self) -> Result<M<'static>> {
        self.rt.from_vec([ROWS, COLUMNS], (0..LEN as i64).collect())
    }

    /// The copies since the last call, when all tasks have ended: from, to, bytes.
    pub(crate) fn moved(&self) -> Vec<(usize, usize, usize)> {
        let _ = self.rt.wait();
        let moved = std::mem::take(&mut *lock(&self.log.0));
        let seen = self.seen.fetch_add(moved.len(), Ordering::Relaxed) + moved.len();
        let counted: u64 = self.rt.transfers().iter().map(|total| total.count).sum();
        assert_eq!(counted, seen as u64, "the runtime counts what the observer sees");
        moved
    }

    /// The number of tasks that each worker has run.
    pub(crate) fn tasks(&self) -> Vec<u64> {
        let _ = self.rt.wait();
        self.rt.worker_uses().iter().map(|worker| worker.tasks).collect()
    }

    /// Bytes of arrays in the memory of a device.
    pub(crate) fn bytes_at(&self, node: usize) -> usize {
        self.rt.memory()[node].current_bytes
    }
}

/// `f` of 0, 1, 2, ..
pub(crate) fn each(f: impl Fn(i64) -> i64) -> Vec<i64> {
    (0..LEN as i64).map(f).collect()
}
