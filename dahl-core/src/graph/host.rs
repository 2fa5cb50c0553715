//! [`Host`]: what the arrays and tasks of a runtime have in common: their records, the memory, how many there are, and who is
//! woken. [`Dispatch`] and [`Engine`]: what they ask of whoever runs them.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use super::handed_over::HandedOver;
use super::record::{Record, Submitted};
use super::state::ArrayState;
use super::waiter::Waiter;
use crate::array_id::ArrayId;
use crate::clock::Clock;
use crate::codelet::in_kernel;
use crate::cuda::HostFetch;
use crate::error::Failure;
use crate::memory::{MemoryNode, MemoryUse, Slab};
use crate::platform::Platform;
use crate::sleep::{Interest, Monitor, Sleep};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::trace::Recorder;

/// Records that a worker gathers before it gives them back, at most: so many tasks can be submitted at once when a thread that
/// waits to submit is woken.
const MOST_BULK: usize = 128;

/// Where a ready task goes.
pub(crate) trait Dispatch {
    /// The tasks' host.
    fn host(&self) -> &Host;

    /// Takes a task whose dependencies are met; `worker` is the worker whose task made it so, if it was one.
    fn schedule(&self, task: &Submitted, worker: Option<usize>);

    /// Takes a split or a join that is ready, and counted as [handed over](Host::handed_over): a worker runs it when the
    /// fetches of its elements have ended.
    fn hand_over(&self, task: &Submitted, fetches: Vec<Arc<HostFetch>>);
}

/// What runs the tasks of a host. Arrays keep it.
pub(crate) trait Engine: Dispatch + Any + Send + Sync {
    /// Runs a ready task on this thread, which is the host's. False if there is none, or another thread is helping.
    fn help(&self) -> bool;

    /// Waits until `holds`, for something that workers bring about, of what `interest` says.
    fn wait_with(&self, interest: Interest, holds: &dyn Fn() -> bool);

    /// Waits until `holds`, for something that workers bring about.
    fn wait_until(&self, holds: &dyn Fn() -> bool) {
        self.wait_with(Interest::Any, holds);
    }

    /// Waits until the waiter is told.
    fn wait_for_word(&self, waiter: &Waiter);

    /// Lets the host wait until `time_ns`, when the elements that it fetched are there.
    fn arrive(&self, time_ns: u64);

    /// Takes back a task that came out of another runtime's hands.
    fn take_home(&self, task: &Submitted);

    /// Runs all that there is to run, on this thread: the workers are gone.
    fn serve(&self);

    /// Runs what is submitted after the workers have gone, on this thread.
    ///
    /// A worker goes when it has seen that the runtime is stopped and then that nothing is left to do; a submitter
    /// counts its task and then looks here. In the one order of these steps, either the worker sees the task, or the
    /// submitter that the runtime is stopped.
    #[inline]
    fn serve_if_stopped(&self) {
        if self.host().is_stopped() && !in_kernel() {
            self.serve();
        }
    }
}

impl fmt::Debug for dyn Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.host(), f)
    }
}

/// What a host is made of.
pub(crate) struct HostParts {
    pub(crate) memory: Arc<MemoryNode>,
    pub(crate) platform: Platform,
    pub(crate) recorder: Option<Arc<Recorder>>,
    pub(crate) sleep: Arc<Sleep>,
    pub(crate) clock: Clock,
    pub(crate) tasks_in_flight: usize,
    pub(crate) name: String,
    pub(crate) built_at: &'static Location<'static>,
}

/// What the arrays and tasks of a runtime have in common. It lives as long as any of them.
pub(crate) struct Host {
    records: Slab<Record>,
    arrays: Slab<ArrayState>,
    /// Arrays made so far.
    arrays_made: AtomicU64,
    /// The main memory.
    memory: Arc<MemoryNode>,
    platform: Platform,
    recorder: Option<Arc<Recorder>>,
    sleep: Arc<Sleep>,
    progress: Arc<Monitor>,
    /// When so many tasks have completed, a thread that waits for bytes goes on without them.
    bytes_until: AtomicU64,
    /// Tasks submitted.
    submitted: CachePadded<AtomicU64>,
    /// Tasks completed by each worker, and last by the host.
    completed: Vec<CachePadded<AtomicU64>>,
    /// Tasks completed outside of the runtime.
    completed_outside: AtomicU64,
    handed_over: HandedOver,
    stopped: AtomicBool,
    failures: Mutex<Vec<Arc<Failure>>>,
    clock: Clock,
    /// Records that there may be.
    limit: u32,
    /// Records that a worker gathers before it gives them back.
    bulk: usize,
    name: String,
    built_at: &'static Location<'static>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// A host is a platform with tasks.
impl Deref for Host {
    type Target = Platform;

    fn deref(&self) -> &Platform {
        &self.platform
    }
}

impl Host {
    pub(crate) fn new(parts: HostParts) -> Self {
        let HostParts { memory, platform, recorder, sleep, clock, tasks_in_flight, name, built_at } = parts;
        let workers = platform.workers();
        Self {
            records: Slab::new(Record::new),
            arrays: Slab::new(ArrayState::free),
            arrays_made: AtomicU64::new(0),
            memory,
            platform,
            recorder,
            sleep,
            progress: Arc::default(),
            bytes_until: AtomicU64::new(0),
            submitted: CachePadded::default(),
            completed: (0..=workers).map(|_| CachePadded::default()).collect(),
            completed_outside: AtomicU64::new(0),
            handed_over: HandedOver::default(),
            stopped: AtomicBool::new(false),
            failures: Mutex::default(),
            clock,
            limit: tasks_in_flight as u32,
            // All workers together hold back a quarter of what may be in flight, at most.
            bulk: MOST_BULK.min(tasks_in_flight / (4 * workers)),
            name,
            built_at,
        }
    }

    pub(crate) fn records(&self) -> &Slab<Record> {
        &self.records
    }

    pub(crate) fn arrays(&self) -> &Slab<ArrayState> {
        &self.arrays
    }

    pub(crate) fn memory(&self) -> &Arc<MemoryNode> {
        &self.memory
    }

    pub(crate) fn sleep(&self) -> &Sleep {
        &self.sleep
    }

    pub(crate) fn progress(&self) -> &Arc<Monitor> {
        &self.progress
    }

    /// What notes the run for a trace, if there is one.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What messages about several runtimes call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The line that built it.
    pub(crate) fn built_at(&self) -> &'static Location<'static> {
        self.built_at
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    pub(crate) fn bulk(&self) -> usize {
        self.bulk
    }

    /// How much is in use of each memory node.
    pub(crate) fn memory_uses(&self) -> Vec<MemoryUse> {
        self.platform.memory_uses(&self.memory)
    }

    /// The id of the next array.
    pub(crate) fn next_array_id(&self) -> ArrayId {
        ArrayId::new(self.arrays_made.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Lets the workers go when nothing is left to do.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.sleep.wake_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.submitted.fetch_add(1, Ordering::SeqCst)
    }

    /// Whether every task that was submitted has completed, and every split and join that was handed over has run.
    pub(crate) fn is_drained(&self) -> bool {
        // Completions first: none of them is counted without its submission, nor without the joins that it made ready.
        self.completed() == self.submitted.load(Ordering::SeqCst) && self.handed_over.is_empty()
    }

    /// The splits and joins that were handed over.
    pub(crate) fn handed_over(&self) -> &HandedOver {
        &self.handed_over
    }

    /// Counts a split or a join that was handed over and has run, and lets the workers go if it was the last.
    pub(crate) fn count_handed_over(&self) {
        self.handed_over.remove();
        if self.is_stopped() && self.is_drained() {
            self.sleep.wake_all();
        }
    }

    /// How many tasks have completed.
    pub(crate) fn completed(&self) -> u64 {
        let of_workers = self.completed.iter().map(|count| count.load(Ordering::Acquire));
        of_workers.sum::<u64>() + self.completed_outside.load(Ordering::Acquire)
    }

    /// How many tasks a worker has completed, or the host, which has the number behind the last.
    pub(crate) fn completed_by(&self, worker: usize) -> u64 {
        self.completed[worker].load(Ordering::Acquire)
    }

    /// How many tasks have been submitted.
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Relaxed)
    }

    pub(crate) fn count_completed(&self, worker: Option<usize>) {
        let count = &self.completed[worker.unwrap_or(self.workers())];
        // Each counter has one writer: its worker, or the holder of the host's context.
        count.store(count.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Counts a task that was completed outside, by any thread, and lets those go on who wait for it.
    pub(crate) fn count_completed_outside(&self) {
        self.completed_outside.fetch_add(1, Ordering::Release);
        self.progress.notify();
        if self.is_stopped() && self.is_drained() {
            self.sleep.wake_all(); // the workers may go
        }
    }

    /// When so many tasks have completed, a thread that waits for bytes goes on without them. Of several threads that
    /// wait, the last one to begin says; when that is woken, so are the others.
    pub(crate) fn set_bytes_until(&self, completed: u64) {
        self.bytes_until.store(completed, Ordering::Relaxed);
    }

    /// Lets those look again who wait for what comes about when a worker has nothing to do, or has given records back.
    pub(crate) fn tell_of_rest(&self) {
        let is_all_done =
            || self.is_drained() || self.completed() >= self.bytes_until.load(Ordering::Relaxed);
        self.progress.notify_of_rest(is_all_done);
    }

    pub(crate) fn give_back_record(&self, index: u32) {
        self.records.give_back(index);
        self.progress.notify();
    }

    /// Notes when a task has become ready, for a trace.
    pub(crate) fn note_ready(&self, task: &Submitted) {
        if let Some(recorder) = self.recorder() {
            task.note_ready(recorder.now_ns());
        }
    }

    /// Loses a device with all that is in its memory, and lets its worker know.
    #[cold]
    pub(crate) fn lose_device(&self, device: usize) {
        if self.devices().is_some_and(|devices| devices.lose(device)) {
            eprintln!("dahl: the device `cuda {device}` is lost; the run goes on without it");
            self.sleep.wake(self.cpu_workers() + device);
        }
    }

    fn failures(&self) -> MutexGuard<'_, Vec<Arc<Failure>>> {
        self.failures.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    pub(crate) fn note_failure(&self, failure: &Arc<Failure>) {
        let mut failures = self.failures();
        failures.retain(|failure| !failure.is_reported());
        failures.push(Arc::clone(failure));
    }

    pub(crate) fn unseen_failures(&self) -> Vec<Arc<Failure>> {
        let mut failures = self.failures();
        failures.retain(|failure| !failure.is_reported());
        failures.clone()
    }
}
