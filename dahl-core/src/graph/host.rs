//! [`Host`]: what the arrays and tasks of a runtime have in common: their records, the memory, how many there are, and who is
//! woken. [`Dispatch`] and [`Engine`]: what they ask of whoever runs them.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use super::failures::Failures;
use super::handed_over::HandedOver;
use super::log::Log;
use super::record::{Record, Submitted};
use super::state::ArrayState;
use super::waiter::Waiter;
use crate::array_id::ArrayId;
use crate::clock::Clock;
use crate::codelet::in_kernel;
use crate::cuda::HostFetch;
use crate::error::Failure;
use crate::fork::Generation;
use crate::memory::{MemoryNode, MemoryUse, Slab};
use crate::platform::Platform;
use crate::ranks::Ranks;
use crate::sleep::{Interest, Monitor, Sleep};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::trace::Recorder;

/// The most records that a worker gathers before it returns them. A submitting thread that is woken can then submit as
/// many tasks at a time.
const MOST_BULK: usize = 128;

/// Passes a ready task on to its worker.
pub(crate) trait Dispatch {
    /// The tasks' host.
    fn host(&self) -> &Host;

    /// Takes a task whose dependencies are met; `worker` is the worker whose task made it ready, if any.
    fn schedule(&self, task: &Submitted, worker: Option<usize>);

    /// Takes a split or a join that is ready, and counted as [handed over](Host::handed_over): a worker runs it when the
    /// fetches of its elements have ended.
    fn hand_over(&self, task: &Submitted, fetches: Vec<Arc<HostFetch>>);
}

/// Runs the tasks of a host. Arrays keep it alive.
pub(crate) trait Engine: Dispatch + Any + Send + Sync {
    /// Runs a ready task on this thread, which is the host's. False if there is none, or another thread is helping.
    fn help(&self) -> bool;

    /// Waits until `holds`, for a change by workers of the kind in `interest`.
    fn wait_with(&self, interest: Interest, holds: &dyn Fn() -> bool);

    /// Waits until `holds`, for a change by workers.
    fn wait_until(&self, holds: &dyn Fn() -> bool) {
        self.wait_with(Interest::Any, holds);
    }

    /// Waits until the waiter is woken.
    fn wait_for_word(&self, waiter: &Waiter);

    /// Makes the host wait until `time_ns`, when the elements that it fetched arrive.
    fn arrive(&self, time_ns: u64);

    /// Takes back a task that another runtime's scheduler handed out.
    fn take_home(&self, task: &Submitted);

    /// Runs all ready tasks on this thread, after the workers have ended.
    fn serve(&self);

    /// Runs tasks that are submitted after the workers have ended, on this thread.
    ///
    /// A worker ends when it has seen that the runtime is stopped and then that no task is left; a submitter counts its
    /// task and then checks this. In the single order of these steps, either the worker sees the task, or the submitter
    /// sees that the runtime is stopped.
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

/// The parts of a host.
pub(crate) struct HostParts {
    pub(crate) memory: Arc<MemoryNode>,
    pub(crate) platform: Platform,
    pub(crate) recorder: Option<Arc<Recorder>>,
    pub(crate) sleep: Arc<Sleep>,
    pub(crate) clock: Clock,
    pub(crate) tasks_in_flight: usize,
    pub(crate) name: String,
    pub(crate) built_at: &'static Location<'static>,
    pub(crate) log: Option<Log>,
    pub(crate) ranks: Option<Ranks>,
}

/// The common state of the arrays and tasks of a runtime. It lives as long as any of them.
pub(crate) struct Host {
    records: Slab<Record>,
    arrays: Slab<ArrayState>,
    /// The number of arrays created.
    arrays_made: AtomicU64,
    /// The main memory.
    memory: Arc<MemoryNode>,
    platform: Platform,
    recorder: Option<Arc<Recorder>>,
    sleep: Arc<Sleep>,
    progress: Arc<Monitor>,
    /// The number of completed tasks at which a thread that waits for bytes gives up.
    bytes_until: AtomicU64,
    /// The number of tasks submitted.
    submitted: CachePadded<AtomicU64>,
    /// Tasks completed by each worker, and last by the host.
    completed: Vec<CachePadded<AtomicU64>>,
    /// Tasks completed outside of the runtime.
    completed_outside: AtomicU64,
    handed_over: HandedOver,
    stopped: AtomicBool,
    failures: Failures,
    generation: Generation,
    clock: Clock,
    /// The most records.
    limit: u32,
    /// Records that a worker gathers before it returns them.
    bulk: usize,
    name: String,
    built_at: &'static Location<'static>,
    /// For an engine that only records what is submitted.
    log: Option<Log>,
    /// If it is one of several ranks.
    ranks: Option<Ranks>,
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
        let HostParts {
            memory,
            platform,
            recorder,
            sleep,
            clock,
            tasks_in_flight,
            name,
            built_at,
            log,
            ranks,
        } = parts;
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
            failures: Failures::default(),
            generation: Generation::new(),
            clock,
            limit: tasks_in_flight as u32,
            // All workers together keep at most a quarter of the records.
            bulk: MOST_BULK.min(tasks_in_flight / (4 * workers)),
            name,
            built_at,
            log,
            ranks,
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

    /// The recorder of the trace, if there is one.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Its name in messages about several runtimes.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The line that built it.
    pub(crate) fn built_at(&self) -> &'static Location<'static> {
        self.built_at
    }

    /// The ranks, if this is one of several.
    #[inline]
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref()
    }

    /// The log of an engine that only records what is submitted.
    #[inline]
    pub(crate) fn log(&self) -> Option<&Log> {
        self.log.as_ref()
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    pub(crate) fn bulk(&self) -> usize {
        self.bulk
    }

    /// The memory use of each memory node.
    pub(crate) fn memory_uses(&self) -> Vec<MemoryUse> {
        self.platform.memory_uses(&self.memory)
    }

    /// The id of the next array.
    pub(crate) fn next_array_id(&self) -> ArrayId {
        ArrayId::new(self.arrays_made.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Lets the workers end when no task is left.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.sleep.wake_all();
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.next_sequences(1)
    }

    /// The first of `count` numbers, for as many tasks, which are counted as submitted.
    pub(crate) fn next_sequences(&self, count: u64) -> u64 {
        self.submitted.fetch_add(count, Ordering::SeqCst)
    }

    /// Whether every task that was submitted has completed, and every split and join that was handed over has run.
    pub(crate) fn is_drained(&self) -> bool {
        // Completions first: each of them has been counted as submitted before, and the joins that it made ready too.
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

    /// The number of tasks that a worker has completed; the host's index follows the last worker's.
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

    /// Counts a task that was completed outside, by any thread, and notifies waiting threads.
    pub(crate) fn count_completed_outside(&self) {
        self.completed_outside.fetch_add(1, Ordering::Release);
        self.progress.notify();
        if self.is_stopped() && self.is_drained() {
            self.sleep.wake_all(); // the workers may go
        }
    }

    /// Sets the number of completed tasks at which a thread that waits for bytes gives up. Of several waiting threads,
    /// the last one sets it; when it is woken, so are the others.
    pub(crate) fn set_bytes_until(&self, completed: u64) {
        self.bytes_until.store(completed, Ordering::Relaxed);
    }

    /// Notifies threads that wait for a worker to become idle or to return records.
    pub(crate) fn tell_of_rest(&self) {
        let is_all_done =
            || self.is_drained() || self.completed() >= self.bytes_until.load(Ordering::Relaxed);
        self.progress.notify_of_rest(is_all_done);
    }

    pub(crate) fn give_back_record(&self, index: u32) {
        self.records.give_back(index);
        self.progress.notify();
    }

    /// Records when a task has become ready, for a trace.
    pub(crate) fn note_ready(&self, task: &Submitted) {
        if let Some(recorder) = self.recorder() {
            task.note_ready(recorder.now_ns());
        }
    }

    /// Marks a device as lost with everything in its memory, and tells its worker.
    #[cold]
    pub(crate) fn lose_device(&self, device: usize) {
        if self.devices().is_some_and(|devices| devices.lose(device)) {
            eprintln!("dahl: the device `cuda {device}` is lost; the run goes on without it");
            self.sleep.wake(self.cpu_workers() + device);
        }
    }

    pub(crate) fn note_failure(&self, failure: &Arc<Failure>) {
        self.failures.note(failure);
    }

    /// Whether this process is a child of the one with the workers.
    #[inline]
    pub(crate) fn is_forked(&self) -> bool {
        self.generation.is_forked()
    }

    /// The failures of which no caller has been told.
    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }
}
