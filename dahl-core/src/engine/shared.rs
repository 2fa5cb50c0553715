//! [`Shared`]: what the workers, the arrays and the host share.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;

use super::dispatch::without_unwinding;
use crate::array::ArrayState;
use crate::autotune::Choices;
use crate::check::CheckNotes;
use crate::clock::Clock;
use crate::codelet::{Codelet, Kernel};
use crate::config::Config;
use crate::description::{Action, ArrayId, Placement, TaskDesc};
use crate::device::Devices;
use crate::error::Failure;
use crate::explain::CallLogs;
use crate::machine::WorkerInfo;
use crate::memory::{HOME, MemoryNode, MemoryUse, NotesBytes, Slab};
use crate::observer::{Forecast, Observer, Submission};
use crate::perf::{Estimate, Models};
use crate::scheduler::{PlanDivergences, Recording, Scheduler, Workers};
use crate::simulation::Simulation;
use crate::sleep::{Monitor, Sleep};
use crate::stall::Stall;
use crate::statistics::Counters;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};
use crate::task::{ReadyTask, Record};
use crate::trace::{Recorder, Trace};
use crate::worker::{HelperPool, WorkerContext};

/// Records that a worker gathers before it gives them back, at most: so many tasks can be submitted at once when a thread that
/// waits to submit is woken.
const MOST_BULK: usize = 128;

/// What the workers, the arrays and the host share. It lives as long as any of them.
pub(crate) struct Shared {
    pub(crate) records: Slab<Record>,
    arrays: Slab<ArrayState>,
    /// Arrays made so far.
    arrays_made: AtomicU64,
    memory: Arc<MemoryNode>,
    pub(crate) scheduler: Box<dyn Scheduler>,
    divergences: Option<Arc<PlanDivergences>>,
    recording: Option<Arc<Recording>>,
    /// Tasks that one worker must run.
    pub(crate) mailboxes: Vec<SegQueue<ReadyTask>>,
    pub(crate) sleep: Arc<Sleep>,
    helpers: HelperPool,
    pub(crate) progress: Arc<Monitor>,
    /// When so many tasks have completed, a thread that waits for bytes goes on without them.
    pub(crate) bytes_until: AtomicU64,
    /// Tasks submitted.
    submitted: CachePadded<AtomicU64>,
    /// Tasks completed by each worker, and last by the host.
    completed: Vec<CachePadded<AtomicU64>>,
    /// Tasks completed outside of the runtime.
    completed_outside: AtomicU64,
    stopped: AtomicBool,
    failures: Mutex<Vec<Arc<Failure>>>,
    models: Models,
    choices: Choices,
    call_logs: CallLogs,
    /// Where the host runs tasks, one thread at a time.
    pub(crate) host_context: Mutex<WorkerContext>,
    clock: Clock,
    workers: Workers,
    cpu_workers: usize,
    cores: usize,
    /// Records that there may be.
    pub(crate) limit: u32,
    /// Records that a worker gathers before it gives them back.
    bulk: usize,
    /// The memories of devices, if there are any.
    pub(crate) devices: Option<Devices>,
    /// Of a simulated machine.
    pub(crate) simulation: Option<Simulation>,
    pub(super) observer: Option<Arc<dyn Observer>>,
    pub(crate) trace: Option<Trace>,
    /// In checked mode alone.
    check_notes: Option<CheckNotes>,
    stall: Stall,
    counters: Counters,
    name: String,
    built_at: &'static Location<'static>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(config: Config) -> Self {
        let clock = config.clock;
        let recorder = config.trace.is_some().then(|| Arc::new(Recorder::new(clock.clone())));
        let noting = |recorder: &Option<Arc<Recorder>>| {
            recorder.clone().map(|recorder| recorder as Arc<dyn NotesBytes>)
        };
        let memory = Arc::new(MemoryNode::new(config.limit_bytes).recorded(HOME, noting(&recorder)));
        let is_simulated = config.machine.is_some();
        let is_observed = config.observer.is_some();
        let devices = match config.machine {
            Some(machine) => Some(Devices::new(machine, clock.clone(), is_observed, recorder.clone())),
            None if config.cuda.is_empty() => None,
            None => Some(Devices::real(config.cuda, clock.clone(), is_observed, recorder.clone())),
        };
        let simulated = devices.as_ref().filter(|_| is_simulated);
        let simulation = simulated.map(|devices| Simulation::new(config.cpu_workers, &memory, devices));
        let models = devices.as_ref().map_or(&[][..], |devices| &devices.machine().devices);
        let of_devices = models.iter().enumerate().map(|(index, device)| {
            if is_simulated {
                WorkerInfo::device(index, &device.name)
            } else {
                WorkerInfo::cuda(index, &device.name)
            }
        });
        let of_cpu = config.processors.iter().enumerate();
        let of_cpu = of_cpu.map(|(worker, &processor)| WorkerInfo::cpu(worker, processor));
        let infos: Vec<_> = of_cpu.chain(of_devices).collect();
        let workers = infos.len();
        let sleep = Arc::new(Sleep::new(workers));
        let links = models.to_vec();
        let infos = Workers::new(infos, links, clock.clone(), Arc::clone(&sleep));
        let models = Models::new(config.performance, workers, clock.is_virtual());
        let counters = Counters::new(config.measures_waits && !clock.is_virtual(), workers);
        let mut scheduler = config.scheduler;
        scheduler.start(&infos);
        let trace = config.trace.zip(recorder).map(|(file, recorder)| {
            let of_devices = devices.as_ref().map(Devices::memories).unwrap_or_default();
            let of_devices = of_devices.iter().map(|device| device.memory());
            let nodes: Vec<_> =
                std::iter::once(&memory).chain(of_devices).map(|node| node.name().to_owned()).collect();
            Trace::new(file, recorder, infos.as_slice(), &nodes, scheduler.name())
        });
        Self {
            records: Slab::new(Record::new),
            arrays: Slab::new(ArrayState::free),
            arrays_made: AtomicU64::new(0),
            memory: Arc::clone(&memory),
            scheduler,
            divergences: config.divergences,
            recording: config.recording,
            mailboxes: (0..workers).map(|_| SegQueue::new()).collect(),
            sleep,
            helpers: HelperPool::default(),
            progress: Arc::default(),
            bytes_until: AtomicU64::new(0),
            submitted: CachePadded::default(),
            completed: (0..=workers).map(|_| CachePadded::default()).collect(),
            completed_outside: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            failures: Mutex::default(),
            models,
            choices: Choices::new(config.kernels, config.teams),
            call_logs: CallLogs::default(),
            host_context: Mutex::new(WorkerContext::new(None, "the host".to_owned(), &memory)),
            clock,
            workers: infos,
            cpu_workers: config.cpu_workers,
            cores: config.cores,
            limit: config.tasks_in_flight as u32,
            // All workers together hold back a quarter of what may be in flight, at most.
            bulk: MOST_BULK.min(config.tasks_in_flight / (4 * workers)),
            devices,
            simulation,
            observer: config.observer,
            trace,
            check_notes: config.check.then(CheckNotes::default),
            stall: Stall::new(config.stall_after, config.on_stall, workers),
            counters,
            name: config.name,
            built_at: config.built_at,
        }
    }

    /// A worker goes. With the last one the trace ends: the runtime itself may have been dropped before, by a task.
    pub(crate) fn leave(&self) {
        if let Some(trace) = &self.trace {
            trace.leave();
        }
    }

    /// Lets the workers go when nothing is left to do.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        self.sleep.wake_all();
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

    pub(crate) fn helpers(&self) -> &HelperPool {
        &self.helpers
    }

    pub(crate) fn progress(&self) -> &Arc<Monitor> {
        &self.progress
    }

    pub(crate) fn check_notes(&self) -> Option<&CheckNotes> {
        self.check_notes.as_ref()
    }

    pub(crate) fn stall(&self) -> &Stall {
        &self.stall
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What messages about several runtimes call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The line that built it.
    pub(crate) fn built_at(&self) -> &'static Location<'static> {
        self.built_at
    }

    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// What notes the run for a trace, if there is one.
    #[inline]
    pub(crate) fn recorder(&self) -> Option<&Recorder> {
        self.trace.as_ref().map(Trace::recorder)
    }

    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    pub(crate) fn call_logs(&self) -> &CallLogs {
        &self.call_logs
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn workers(&self) -> usize {
        self.workers.as_slice().len()
    }

    /// The CPU workers, which come first.
    pub(crate) fn cpu_workers(&self) -> usize {
        self.cpu_workers
    }

    pub(crate) fn worker_infos(&self) -> &[WorkerInfo] {
        self.workers.as_slice()
    }

    /// Whether worker `worker` is there and has a kernel of the codelet.
    pub(crate) fn has_kernel(&self, worker: usize, codelet: &Codelet) -> bool {
        let device = self.worker(worker).node.checked_sub(1);
        match (self.devices(), device) {
            (Some(devices), Some(device)) => devices.can_run(device, codelet),
            _ => true,
        }
    }

    /// Whether worker `worker` is of the kind that a kernel is for, and what it calls is there.
    pub(crate) fn is_for(&self, worker: usize, kernel: &Kernel) -> bool {
        if !self.is_real_device(worker) {
            return !kernel.is_on_cuda();
        }
        let cuda = self.devices().and_then(|devices| devices.cuda(self.worker(worker).node));
        let has = |library| cuda.is_some_and(|cuda| cuda.has_library(library));
        kernel.is_on_cuda() && kernel.library().is_none_or(has)
    }

    /// How long a task is expected to run on worker `worker`, if that can be said.
    pub(crate) fn expected(&self, worker: usize, task: &TaskDesc) -> Option<Estimate> {
        self.models().expected(&self.worker(worker).kind, self.is_real_device(worker), task)
    }

    /// Whether worker `worker` can run a task: it has a kernel there, and the submitter does not want another one.
    pub(crate) fn can_run(&self, worker: usize, task: &TaskDesc) -> bool {
        let is_there = match task.action() {
            Action::Kernel(call) => {
                self.has_kernel(worker, call.codelet)
                    && call.kernel.is_none_or(|kernel| self.is_for(worker, kernel))
            }
            _ => self.worker(worker).is_cpu() || self.can_reduce(worker, task),
        };
        is_there
            && match task.place() {
                Placement::Any => true,
                Placement::Worker(wanted) => worker == wanted,
                Placement::KindOf(wanted) => self.worker(worker).kind == self.worker(wanted).kind,
            }
    }

    /// The id of the next array.
    pub(crate) fn next_array_id(&self) -> ArrayId {
        ArrayId::new(self.arrays_made.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// What schedulers know of a worker.
    pub(crate) fn worker(&self, worker: usize) -> &WorkerInfo {
        &self.workers.as_slice()[worker]
    }

    pub(crate) fn cores(&self) -> usize {
        self.cores
    }

    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    pub(crate) fn bulk(&self) -> usize {
        self.bulk
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    pub(crate) fn next_sequence(&self) -> u64 {
        self.submitted.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn observe(&self, task: &TaskDesc) {
        without_unwinding(|| self.scheduler.submitted(&Submission::new(task, self)));
        if let Some(observer) = &self.observer {
            observer.submitted(&Submission::new(task, self));
        }
    }

    /// Whether every task that was submitted has completed.
    pub(crate) fn is_drained(&self) -> bool {
        // Completions first: none of them is counted without its submission.
        self.completed() == self.submitted.load(Ordering::SeqCst)
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

    pub(crate) fn scheduler_name(&self) -> &'static str {
        self.scheduler.name()
    }

    /// Where the run and the plan that it should follow differ.
    pub(crate) fn plan_misfits(&self) -> Vec<String> {
        self.divergences.as_ref().map(|divergences| divergences.texts()).unwrap_or_default()
    }

    /// Writes the plan of the run, if it is wanted.
    pub(crate) fn write_plan(&self) {
        if let Some(recording) = &self.recording {
            recording.finish();
        }
    }

    /// How much is in use of each memory node.
    pub(crate) fn memory_uses(&self) -> Vec<MemoryUse> {
        let devices = self.devices().map(Devices::memories).unwrap_or_default();
        let of_devices = devices.iter().map(|device| device.memory().usage());
        std::iter::once(self.memory.usage()).chain(of_devices).collect()
    }

    pub(crate) fn count_completed(&self, worker: Option<usize>) {
        let count = &self.completed[worker.unwrap_or(self.workers())];
        // Each counter has one writer: its worker, or the holder of `helper`.
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

impl Forecast for Shared {
    fn can_run(&self, worker: usize, task: &TaskDesc) -> bool {
        self.can_run(worker, task)
    }

    fn expected(&self, worker: usize, task: &TaskDesc) -> Option<Estimate> {
        self.expected(worker, task)
    }
}
