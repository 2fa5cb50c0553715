//! [`RuntimeBuilder`]: the settings of a runtime, as calls give them. `resolved.rs` completes them from the environment.

mod devices;
mod environment;
mod resolved;
mod schedulers;
mod variables;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) use resolved::Config;
pub use variables::VARIABLES;

use dahl_energy::Meters;

use crate::autotune::TeamPolicy;
use crate::machine::{Machine, VirtualDevice};
use crate::observer::Observer;
use crate::ranks::Transport;
use crate::scheduler::Scheduler;
use crate::stall::OnStall;
use crate::topology::Binding;

/// The settings of a [`Runtime`](crate::Runtime). Calls take precedence over environment variables, and these over
/// defaults.
///
/// | call | variable | default |
/// |---|---|---|
/// | [`cpu_workers`](Self::cpu_workers) | `DAHL_NCPU` | one for each processor that the process may use |
/// | [`scheduler`](Self::scheduler) | `DAHL_SCHED` | `ws` |
/// | [`plan`](Self::plan) | `DAHL_PLAN`: a file | none |
/// | [`write_plan`](Self::write_plan) | `DAHL_WRITE_PLAN`: a file | none |
/// | [`trace`](Self::trace) | `DAHL_TRACE`: a file, `NAME.json` | none |
/// | [`rand_seed`](Self::rand_seed) | `DAHL_RAND_SEED` | 0 |
/// | [`energy_weight`](Self::energy_weight) | `DAHL_ENERGY_WEIGHT`: seconds that a joule is worth | 0 |
/// | [`tasks_in_flight`](Self::tasks_in_flight) | `DAHL_TASKS_IN_FLIGHT` | 512 for each worker, 1024 at least |
/// | [`memory_limit_mb`](Self::memory_limit_mb) | `DAHL_LIMIT_MB` | none |
/// | [`binding`](Self::binding) | `DAHL_BIND`: `none`, `cores`, or processors as in `0-3,8` | `none` |
/// | [`virtual_machine`](Self::virtual_machine) | `DAHL_MACHINE`: a model file | none: the real one |
/// | [`cuda_devices`](Self::cuda_devices) | `DAHL_NCUDA` | all that there are |
/// | [`cuda_limit_mb`](Self::cuda_limit_mb) | `DAHL_CUDA_LIMIT_MB` | nine tenths of what is free |
/// | [`cuda_tf32`](Self::cuda_tf32) | `DAHL_CUDA_TF32`: 0 or 1 | 0 |
/// | [`cuda_graphs`](Self::cuda_graphs) | `DAHL_CUDA_GRAPHS`: 0 or 1 | 1 |
/// | [`performance_dir`](Self::performance_dir) | `DAHL_PERF_DIR` | none: models are not stored |
/// | [`calibrate`](Self::calibrate) | `DAHL_CALIBRATE`: 0 or 1 | 0 |
/// | [`kernels`](Self::kernels) | `DAHL_KERNELS` | `equal` |
/// | [`teams`](Self::teams) | `DAHL_TEAMS` | `measured` |
/// | [`check`](Self::check) | `DAHL_CHECK`: 0 or 1 | on if this crate has debug assertions |
/// | [`check_seed`](Self::check_seed) | `DAHL_CHECK_SEED` | none |
/// | [`stall_report_after`](Self::stall_report_after) | `DAHL_STALL_SECONDS` | 60; 0 for never |
/// | [`energy_interval`](Self::energy_interval) | `DAHL_ENERGY_MS`: milliseconds, 0 for no energy | 100 |
/// | [`statistics`](Self::statistics), [`statistics_file`](Self::statistics_file) | `DAHL_STATS`: 0, 1 or `FILE.json` | 0 |
#[derive(Default)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct RuntimeBuilder {
    cpu_workers: Option<usize>,
    binding: Option<Binding>,
    scheduler: Option<String>,
    custom: Option<Box<dyn Scheduler>>,
    plan: Option<PathBuf>,
    write_plan: Option<PathBuf>,
    trace: Option<PathBuf>,
    rand_seed: Option<u64>,
    energy_weight: Option<f64>,
    tasks_in_flight: Option<usize>,
    memory_limit_mb: Option<usize>,
    observer: Option<Arc<dyn Observer>>,
    ranks: Option<Arc<dyn Transport>>,
    machine: Option<Machine>,
    cuda_devices: Option<usize>,
    cuda_limit_mb: Option<f64>,
    cuda_tf32: Option<bool>,
    cuda_graphs: Option<bool>,
    performance_dir: Option<PathBuf>,
    calibrate: Option<bool>,
    kernels: Option<String>,
    teams: Option<TeamPolicy>,
    check: Option<bool>,
    check_seed: Option<u64>,
    stall_after: Option<Duration>,
    on_stall: Option<OnStall>,
    name: Option<String>,
    statistics: Option<bool>,
    statistics_file: Option<PathBuf>,
    energy_interval: Option<Duration>,
    energy_meters: Option<Meters>,
}

impl RuntimeBuilder {
    /// Sets the number of CPU workers. There may be more than cores.
    pub fn cpu_workers(mut self, workers: usize) -> Self {
        self.cpu_workers = Some(workers);
        self
    }

    /// Sets which processors the CPU workers are bound to. Has no effect in virtual time.
    pub fn binding(mut self, binding: Binding) -> Self {
        self.binding = Some(binding);
        self
    }

    /// Chooses a scheduler by its name (`docs/schedulers.md`): `ws`, a queue for each worker, with work stealing;
    /// `lws`, the same by locality; `eager`, one queue for all; `prio`, the same by priority; `random`; `dm`, by
    /// expected end; `dmda`, the same including transfers; `dmdas`, the same by priority; `heft`, the same by upward
    /// ranks; `sequential`, for tests; `static`, which follows a [plan](Self::plan).
    pub fn scheduler(mut self, name: &str) -> Self {
        self.scheduler = Some(name.to_owned());
        self
    }

    /// Uses a user's scheduler.
    pub fn custom_scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.custom = Some(Box::new(scheduler));
        self
    }

    /// Follows the plan in a file, which an earlier run [wrote](Self::write_plan): the scheduler is `static`. `dmda`
    /// places tasks that do not match the plan, and the first [divergences](crate::Runtime::plan_divergences) are
    /// printed.
    pub fn plan(mut self, path: impl Into<PathBuf>) -> Self {
        self.plan = Some(path.into());
        self
    }

    /// Writes a plan when the runtime is dropped: a text file with the worker of each task.
    pub fn write_plan(mut self, path: impl Into<PathBuf>) -> Self {
        self.write_plan = Some(path.into());
        self
    }

    /// Records events to a file while the program runs: a trace (`docs/traces.md`), which opens in Perfetto and in
    /// `dahl trace`. If this process has already written a trace of that name, the name is `NAME-2.json`, and so on.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace = Some(path.into());
        self
    }

    /// Sets the seed of the scheduler `random`, and of [`Runtime::next_seed`](crate::Runtime::next_seed).
    pub fn rand_seed(mut self, seed: u64) -> Self {
        self.rand_seed = Some(seed);
        self
    }

    /// Sets how many seconds a joule is worth for `dm`, `dmda`, `dmdas` and `heft`: 0, the default, for the least time, more for less
    /// energy (StarPU's gamma). They place a task where its expected end and the worth of its energy are least together:
    /// that of its worker beyond the idle power, and the idle power of all workers for as long as the task makes the run
    /// longer. A machine file says the power of its workers.
    pub fn energy_weight(mut self, seconds_per_joule: f64) -> Self {
        self.energy_weight = Some(seconds_per_joule);
        self
    }

    /// Sets how many tasks may be in flight; a thread that would submit more helps to run them.
    pub fn tasks_in_flight(mut self, tasks: usize) -> Self {
        self.tasks_in_flight = Some(tasks);
        self
    }

    /// Limits the bytes of main memory that arrays, arenas and workers' buffers may reserve, in units of 2^20 bytes.
    ///
    /// If an array would exceed it, memory that is only kept for reuse is freed. If that is not enough, and tasks in
    /// flight hold enough memory, the thread helps to run them. Otherwise it is an error that names the largest
    /// holders.
    pub fn memory_limit_mb(mut self, megabytes: usize) -> Self {
        self.memory_limit_mb = Some(megabytes);
        self
    }

    /// Calls `observer` for every submission.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Makes the runtime one of several ranks, which run the same program and exchange values by `transport`.
    pub fn ranks(mut self, transport: Arc<dyn Transport>) -> Self {
        self.ranks = Some(transport);
        self
    }

    /// Simulates a machine in virtual time: its CPU workers, whose number [`cpu_workers`](Self::cpu_workers) sets, and
    /// its devices. Kernels really run; their durations come from the machine's model.
    pub fn virtual_machine(mut self, machine: Machine) -> Self {
        self.machine = Some(machine);
        self
    }

    /// Adds a device to the simulated machine, which is [`Machine::default`] unless another one was set.
    pub fn virtual_device(mut self, device: VirtualDevice) -> Self {
        self.machine.get_or_insert_default().devices.push(device);
        self
    }

    /// Stores performance models in this folder, with a subfolder for each host and machine, and loads those that are
    /// there (`docs/performance-models.md`).
    pub fn performance_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.performance_dir = Some(folder.into());
        self
    }

    /// Sets whether performance models are measured anew: stored durations of a task that runs are neither used nor
    /// kept, and there is no prediction for a kind of worker before several measurements on it.
    pub fn calibrate(mut self, calibrate: bool) -> Self {
        self.calibrate = Some(calibrate);
        self
    }

    /// Sets which kernel of a codelet runs a task whose submitter [named none](crate::Task::kernel): `equal`, the
    /// fastest of those declared to give the same bits as the first; `first`, the first declared; `measured`, the
    /// fastest; or the table in a file, `FILE.toml`, written by [`KernelChoices::save`](crate::KernelChoices::save).
    pub fn kernels(mut self, policy: impl Into<String>) -> Self {
        self.kernels = Some(policy.into());
        self
    }

    /// Sets whether parallel kernels run with a team of idle workers.
    pub fn teams(mut self, teams: TeamPolicy) -> Self {
        self.teams = Some(teams);
        self
    }

    /// Sets whether every kernel's outputs and inputs are checked (`docs/checked-mode.md`).
    pub fn check(mut self, check: bool) -> Self {
        self.check = Some(check);
        self
    }

    /// In checked mode, runs ready tasks in an order drawn from `seed`: results that depend on an order that
    /// dependencies do not fix differ between seeds. Of the scheduler, only the name remains.
    pub fn check_seed(mut self, seed: u64) -> Self {
        self.check_seed = Some(seed);
        self
    }

    /// Sets the time without a completed task after which a waiting thread prints a stall report; zero for never.
    pub fn stall_report_after(mut self, time: Duration) -> Self {
        self.stall_after = Some(time);
        self
    }

    /// Also passes each stall report to `hook`, on the waiting thread.
    pub fn on_stall(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stall = Some(OnStall::new(hook));
        self
    }

    /// Names the runtime, for statistics of several runtimes. The default names are `runtime 1`, `runtime 2`, in the
    /// order in which they are built.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets whether [statistics](crate::Runtime::statistics) are printed to standard error when the runtime is dropped.
    /// The runtime then also measures how long workers have no task, which costs nothing while they have tasks.
    pub fn statistics(mut self, statistics: bool) -> Self {
        self.statistics = Some(statistics);
        self
    }

    /// Writes the same statistics to a file, as JSON, instead. If several runtimes should write `run.json`, the second
    /// one writes `run-2.json`.
    pub fn statistics_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.statistics_file = Some(path.into());
        self
    }

    /// Sets how often the power is sampled while a run is traced, its statistics are printed, or performance models are stored
    /// (`docs/energy.md`). Zero measures no energy.
    pub fn energy_interval(mut self, interval: Duration) -> Self {
        self.energy_interval = Some(interval);
        self
    }

    /// Measures energy with these meters, in place of those that the machine has. [`Meters::find`] finds the machine's, to
    /// which others can be [added](Meters::push).
    pub fn energy_meters(mut self, meters: Meters) -> Self {
        self.energy_meters = Some(meters);
        self
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder")
            .field("cpu_workers", &self.cpu_workers)
            .field("scheduler", &self.scheduler)
            .field("tasks_in_flight", &self.tasks_in_flight)
            .field("memory_limit_mb", &self.memory_limit_mb)
            .finish_non_exhaustive()
    }
}
