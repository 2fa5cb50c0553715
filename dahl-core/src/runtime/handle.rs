//! [`Runtime`]: the workers and what they share.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::energy::traced;
use super::ranks::require_real_ranks;
use super::seeds::Seeds;
use crate::arena::Arena;
use crate::array::{Array, block_for, require_len};
use crate::autotune::KernelChoices;
use crate::check::{CheckNote, CheckNotes};
use crate::clock::Clock;
use crate::codelet::in_kernel;
use crate::config::{Config, RuntimeBuilder};
use crate::device::Devices;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Executor;
use crate::explain::Explanation;
use crate::graph::Engine;
use crate::machine::TransferTotal;
use crate::machine::WorkerInfo;
use crate::memory::{Block, Holder, MemoryUse};
use crate::perf::{History, PredictionErrors, TransferTime, WorkerHistory};
use crate::simulation::WorkerUse;
use crate::statistics::{Output, Statistics};
use crate::submission::Tag;
use crate::tape::Tape;
use crate::worker::Threads;

/// Runs tasks on its workers. Several runtimes can live in one process.
///
/// Code that uses it reads as if each call were complete when it returns. In fact calls return immediately, tasks run
/// as soon as their dependencies have ended, and a thread that reads an array waits only for the tasks that it depends
/// on.
///
/// Dropping it waits for all tasks, and prints the failures that no call has reported, and its
/// [statistics](RuntimeBuilder::statistics) if they are enabled.
///
/// ```
/// # fn main() -> dahl_core::Result<()> {
/// let rt = dahl_core::Runtime::builder().cpu_workers(2).scheduler("ws").build()?;
/// let arena = rt.arena();
/// let x = arena.from_slice([3], &[1.0_f32, 2.0, 3.0])?;
/// assert_eq!(x.to_vec()?, [1.0, 2.0, 3.0]);
/// # Ok(())
/// # }
/// ```
pub struct Runtime {
    pub(super) executor: Arc<Executor>,
    threads: Threads,
    /// Where its statistics are written when it is dropped, if anywhere.
    output: Option<Output>,
    pub(super) seeds: Arc<Seeds>,
}

impl RuntimeBuilder {
    /// Starts the runtime.
    ///
    /// # Errors
    /// If a setting is invalid (the error names it and the valid values), or the workers cannot be started.
    #[track_caller]
    pub fn build(self) -> Result<Runtime> {
        Runtime::start(self.config()?)
    }
}

impl Runtime {
    /// A runtime on all processors and CUDA devices, unless the `DAHL_*` variables restrict it.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::build`].
    #[track_caller]
    pub fn new() -> Result<Self> {
        Self::builder().build()
    }

    /// A builder for the settings of a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    #[track_caller]
    pub(crate) fn start(mut config: Config) -> Result<Self> {
        let (output, seeds) = (config.statistics.take(), Arc::new(Seeds::new(config.rand_seed)));
        let location = Location::caller();
        let no_thread = |error: String| Error::at(ErrorKind::Workers(error), location);
        require_memory(config.processors.len(), config.tasks_in_flight).map_err(no_thread)?;
        require_real_ranks(&config, location)?;
        let executor = Executor::new(config);
        if let Some(trace) = executor.trace() {
            trace.start().map_err(|error| no_thread(error.to_string()))?;
        }
        let threads =
            if executor.is_simulated() { Ok(Threads::none()) } else { Threads::start(executor.shared()) };
        let threads = threads.map_err(no_thread)?;
        executor.shared().start_metering().map_err(|error| no_thread(error.to_string()))?;
        Ok(Self { executor, threads, output, seeds })
    }

    /// The executor.
    pub(crate) fn executor(&self) -> Arc<Executor> {
        Arc::clone(&self.executor)
    }

    /// The executor, in the type that arrays store.
    fn engine(&self) -> Arc<dyn Engine> {
        Arc::<Executor>::clone(&self.executor)
    }

    /// A new arena. It reserves memory for its arrays as they are created.
    #[track_caller]
    pub fn arena(&self) -> Arena {
        Arena::new(self.engine())
    }

    /// A new tape: a scope that remembers what runs under it, so that gradients can be computed.
    #[track_caller]
    pub fn tape(&self) -> Tape<'static> {
        Tape::new(self.engine())
    }

    /// A new arena that reserves `bytes` bytes now, in one piece, and never more.
    ///
    /// It is an error if an array does not fit any more. After a [reset](Arena::reset) the first array waits for the
    /// tasks that still use earlier ones.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn arena_with_capacity(&self, bytes: usize) -> Result<Arena> {
        Arena::with_capacity(self.engine(), bytes)
    }

    /// The memory use and the holders of each memory node: the main memory, and those of devices.
    pub fn memory(&self) -> Vec<MemoryUse> {
        self.executor.memory_uses()
    }

    /// The transfers between memory nodes so far; empty if there is only one node.
    pub fn transfers(&self) -> Vec<TransferTotal> {
        self.executor.devices().map(Devices::totals).unwrap_or_default()
    }

    /// The activity of each worker of a simulated machine; empty for a real machine.
    pub fn worker_uses(&self) -> Vec<WorkerUse> {
        self.executor.worker_uses()
    }

    /// An array of zeros in memory of its own, which is freed when the array is dropped and its last task has ended.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn zeros<T: Element, const N: usize>(&self, shape: [usize; N]) -> Result<Array<'static, T, N>> {
        let block = block_for::<T>(&*self.executor, &shape)?;
        Ok(Array::from_block(&self.engine(), shape, block))
    }

    /// An array of the vector's elements, in row-major order, without a copy: it has the vector's memory, so it is
    /// aligned for its elements, but perhaps not to 64 bytes like all other arrays, and it counts as reserved even
    /// beyond the limit.
    ///
    /// # Errors
    /// If `shape` has another number of elements.
    #[track_caller]
    pub fn from_vec<T: Element, const N: usize>(
        &self,
        shape: [usize; N],
        elements: Vec<T>,
    ) -> Result<Array<'static, T, N>> {
        require_len("from_vec", &shape, elements.len())?;
        let holder = Holder::new("array", Location::caller());
        Ok(Array::from_block(
            &self.engine(),
            shape,
            Block::from_vec(self.executor.memory(), elements, holder),
        ))
    }

    /// Waits for all tasks.
    ///
    /// # Errors
    /// The first failed task of which no call has told; or inside a kernel, or in a forked process. Of the failures after the first 64 one stands for
    /// all.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        if in_kernel() {
            return Err(Error::new(ErrorKind::InsideKernel { call: "wait" }));
        }
        if self.executor.is_forked() {
            return Err(Error::new(ErrorKind::Forked { subject: "wait" }));
        }
        self.meet_ranks("wait")?;
        self.executor.drain();
        match self.executor.failures().take_first() {
            Some(failure) => Err(failure.report()),
            None => Ok(()),
        }
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        self.executor.workers()
    }

    /// The description of each worker for schedulers: its name, kind, memory node, and the processor that it is bound
    /// to.
    pub fn worker_infos(&self) -> &[WorkerInfo] {
        self.executor.worker_infos()
    }

    /// The names of the schedulers that [`builder`](Self::builder) can choose from. There is also `static`, which needs
    /// a [plan](RuntimeBuilder::plan).
    pub fn schedulers() -> &'static [&'static str] {
        &crate::scheduler::NAMES
    }

    /// The scheduler's name.
    pub fn scheduler(&self) -> &'static str {
        self.executor.scheduler_name()
    }

    /// The divergences of the run from its [plan](RuntimeBuilder::plan) so far; if there are many, the first ones. Each
    /// names the file, the line, and the task.
    pub fn plan_divergences(&self) -> Vec<String> {
        self.executor.plan_divergences()
    }

    /// The performance models: a row for each codelet, kernel, kind of worker, element types and footprint, including
    /// loaded ones.
    pub fn performance_models(&self) -> Vec<History> {
        self.executor.models().histories()
    }

    /// The durations of each worker in this run: why the same task takes longer on one than on another.
    pub fn performance_by_worker(&self) -> Vec<WorkerHistory> {
        self.executor.models().worker_histories()
    }

    /// The errors of predicted durations.
    pub fn prediction_error(&self) -> PredictionErrors {
        self.executor.models().prediction_errors()
    }

    /// The durations of copies between memory nodes: by the model of a simulated machine; otherwise measured, once for
    /// each machine if models are stored.
    pub fn transfer_times(&self) -> Vec<TransferTime> {
        match self.executor.devices() {
            Some(devices) => devices.transfer_times(),
            None => self.executor.models().transfer_times(),
        }
    }

    /// Adds the durations so far to the [stored models](RuntimeBuilder::performance_dir), if there are any. Dropping
    /// the runtime does so too.
    ///
    /// # Errors
    /// If they cannot be written.
    #[track_caller]
    pub fn save_performance_models(&self) -> Result<()> {
        self.executor.models().save()
    }

    /// Warnings about stored performance models, each printed when it was found: a file that could not be read, or that
    /// is of another machine or declaration. The run continues without it.
    pub fn performance_warnings(&self) -> Vec<String> {
        self.executor.models().warnings()
    }

    /// The kernels chosen so far for codelets with several kernels or a parallel one, with the measurements.
    pub fn kernel_choices(&self) -> KernelChoices {
        self.executor.choices().table()
    }

    /// Why tasks of the codelet of this name took different times: by worker, first call, load, transfer, team.
    pub fn explain(&self, codelet: &str) -> Explanation {
        self.executor.call_logs().explain(codelet)
    }

    /// The statistics of the run so far: workers, codelets, transfers, memory.
    pub fn statistics(&self) -> Statistics {
        Statistics::of(&self.executor)
    }

    /// Its name, from the [settings](RuntimeBuilder::name).
    pub fn name(&self) -> &str {
        self.executor.name()
    }

    /// Findings of checked mode so far that are not failures; empty if the mode is off.
    pub fn check_notes(&self) -> Vec<CheckNote> {
        self.executor.check_notes().map(CheckNotes::all).unwrap_or_default()
    }

    /// The runtime's time.
    pub fn clock(&self) -> Clock {
        self.executor.clock().clone()
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("workers", &self.workers())
            .field("scheduler", &self.scheduler())
            .finish_non_exhaustive()
    }
}

/// Requires that there is memory for the threads of so many workers, with their stacks and queues, and for the records of so
/// many tasks: without it the process would end while they are made.
fn require_memory(workers: usize, tasks: usize) -> std::result::Result<(), String> {
    const WORKER_BYTES: usize = (2 << 20) + (64 << 10);
    const TASK_BYTES: usize = 1 << 10;
    let bytes = workers.saturating_mul(WORKER_BYTES).saturating_add(tasks.saturating_mul(TASK_BYTES));
    match Vec::<u8>::new().try_reserve_exact(bytes) {
        Ok(()) => Ok(()),
        Err(_) => Err(format!("{workers} of them need {bytes} bytes, which the system does not give")),
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        if self.executor.is_forked() {
            // What the workers did when the process was forked is done by nobody: nothing is waited for or freed.
            self.threads.abandon();
            std::mem::forget(Arc::clone(&self.executor));
            return;
        }
        let on_worker = in_kernel();
        if !on_worker {
            self.executor.drain();
        }
        // Before the workers stop: they may continue to wait, which counts until now, and the last one ends the trace.
        self.executor.metering().finish();
        let statistics = self.output.as_ref().map(|output| (output, self.statistics()));
        if let Some(recorder) = self.executor.recorder() {
            let energy = statistics.as_ref().map(|(_, statistics)| &statistics.energy);
            let energy = energy.cloned().unwrap_or_else(|| self.statistics().energy);
            recorder.energy(traced(&energy));
        }
        self.executor.write_plan();
        self.executor.stop();
        self.threads.let_go();
        for unused in self.executor.choices().unused(|| self.executor.call_logs().codelets()) {
            eprintln!("dahl: {unused}");
        }
        let untold = self.executor.failures().untold();
        for failure in &untold.failures {
            eprintln!("dahl: {}", failure.report());
        }
        if let Some((count, first)) = untold.more {
            let (codelet, location) = (first.codelet, first.location);
            eprintln!("dahl: and {count} more failed tasks, first {codelet}, submitted at {location}");
        }
        if let Some((output, statistics)) = &statistics {
            output.write(statistics);
        }
        if !on_worker {
            self.threads.join();
            if let Some(trace) = self.executor.trace() {
                trace.finish();
            }
            if let Err(error) = self.save_performance_models() {
                eprintln!("dahl: {error}");
            }
        }
    }
}

impl Runtime {
    /// A tag that no task has yet.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn tag(&self) -> Result<Tag> {
        Ok(Tag::new(self.zeros([0])?))
    }
}
