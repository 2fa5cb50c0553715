//! [`RuntimeBuilder`]: the settings of a runtime, from calls and from the environment.

mod devices;
mod environment;
mod schedulers;
mod variables;

use std::fmt;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use devices::cuda_devices;
use environment::{binding, count, default_name, from_environment, statistics};
use schedulers::{Size, named_scheduler, recording};
pub use variables::VARIABLES;

use crate::autotune::{KernelPolicy, TeamPolicy};
use crate::clock::Clock;
use crate::device::CudaSetting;
use crate::error::Result;
use crate::machine::{Machine, VirtualDevice};
use crate::observer::Observer;
use crate::perf::{self, Store};
use crate::scheduler::{PlanDivergences, Recorded, Recording, Scheduler, Shuffled};
use crate::stall::OnStall;
use crate::statistics::Output;
use crate::topology::{Binding, Processor};
use crate::trace::TraceFile;

/// Tasks in flight for each worker, if nothing is said, and those that there may be with few workers. Fewer would leave
/// workers of wide graphs without work; more do not stay in the caches from their submission to their end.
const TASKS_OF_A_WORKER: usize = 512;
const LEAST_TASKS: usize = 1024;
/// The most tasks in flight.
const MOST: usize = 1 << 20;
/// The most workers: more than any machine has hardware threads for. Each takes a thread, some 100 kB of memory, and time
/// at the start.
const MOST_WORKERS: usize = 4096;
/// How long nothing goes on before a stall is reported, if nothing is said.
const STALL_AFTER: Duration = Duration::from_secs(60);

/// The settings of a [`Runtime`](crate::Runtime). What is set by a call counts; what is not comes from the environment, or is default.
///
/// | call | variable | default |
/// |---|---|---|
/// | [`cpu_workers`](Self::cpu_workers) | `DAHL_NCPU` | one for each processor that the process may use |
/// | [`scheduler`](Self::scheduler) | `DAHL_SCHED` | `ws` |
/// | [`plan`](Self::plan) | `DAHL_PLAN`: a file | none |
/// | [`write_plan`](Self::write_plan) | `DAHL_WRITE_PLAN`: a file | none |
/// | [`trace`](Self::trace) | `DAHL_TRACE`: a file, `NAME.json` | none |
/// | [`rand_seed`](Self::rand_seed) | `DAHL_RAND_SEED` | 0 |
/// | [`tasks_in_flight`](Self::tasks_in_flight) | `DAHL_TASKS_IN_FLIGHT` | 512 for each worker, 1024 at least |
/// | [`memory_limit_mb`](Self::memory_limit_mb) | `DAHL_LIMIT_MB` | none |
/// | [`binding`](Self::binding) | `DAHL_BIND`: `none`, `cores`, or processors as in `0-3,8` | `none` |
/// | [`virtual_machine`](Self::virtual_machine) | `DAHL_MACHINE`: a model file | none: the real one |
/// | [`cuda_devices`](Self::cuda_devices) | `DAHL_NCUDA` | all that there are |
/// | [`cuda_limit_mb`](Self::cuda_limit_mb) | `DAHL_CUDA_LIMIT_MB` | nine tenths of what is free |
/// | [`cuda_tf32`](Self::cuda_tf32) | `DAHL_CUDA_TF32`: 0 or 1 | 0 |
/// | [`cuda_graphs`](Self::cuda_graphs) | `DAHL_CUDA_GRAPHS`: 0 or 1 | 0 |
/// | [`performance_dir`](Self::performance_dir) | `DAHL_PERF_DIR` | none: models are not stored |
/// | [`calibrate`](Self::calibrate) | `DAHL_CALIBRATE`: 0 or 1 | 0 |
/// | [`kernels`](Self::kernels) | `DAHL_KERNELS` | `equal` |
/// | [`teams`](Self::teams) | `DAHL_TEAMS` | `measured` |
/// | [`check`](Self::check) | `DAHL_CHECK`: 0 or 1 | on if this crate has debug assertions |
/// | [`check_seed`](Self::check_seed) | `DAHL_CHECK_SEED` | none |
/// | [`stall_report_after`](Self::stall_report_after) | `DAHL_STALL_SECONDS` | 60; 0 for never |
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
    tasks_in_flight: Option<usize>,
    memory_limit_mb: Option<usize>,
    observer: Option<Arc<dyn Observer>>,
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
}

/// Settings that are complete and checked.
pub(crate) struct Config {
    /// The processor of each, if it is bound to one.
    pub(crate) processors: Vec<Option<Processor>>,
    pub(crate) cores: usize,
    pub(crate) scheduler: Box<dyn Scheduler>,
    /// Of a scheduler that follows a plan.
    pub(crate) divergences: Option<Arc<PlanDivergences>>,
    /// The plan that the run writes.
    pub(crate) recording: Option<Arc<Recording>>,
    /// Where the run is traced to.
    pub(crate) trace: Option<TraceFile>,
    pub(crate) tasks_in_flight: usize,
    pub(crate) limit_bytes: Option<usize>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// The machine to be simulated.
    pub(crate) machine: Option<Machine>,
    /// The CUDA devices that are used, each of which is one worker more.
    pub(crate) cuda: Vec<CudaSetting>,
    pub(crate) clock: Clock,
    pub(crate) performance: perf::Settings,
    pub(crate) kernels: KernelPolicy,
    pub(crate) teams: TeamPolicy,
    pub(crate) check: bool,
    /// None for never.
    pub(crate) stall_after: Option<Duration>,
    pub(crate) on_stall: Option<OnStall>,
    pub(crate) name: String,
    pub(crate) built_at: &'static Location<'static>,
    /// Where statistics go when the run ends, if anywhere.
    pub(crate) statistics: Option<Output>,
    /// Whether it is measured how long workers wait.
    pub(crate) measures_waits: bool,
}

impl RuntimeBuilder {
    /// Sets the number of CPU workers. There may be more than cores.
    pub fn cpu_workers(mut self, workers: usize) -> Self {
        self.cpu_workers = Some(workers);
        self
    }

    /// Sets which processors the CPU workers are bound to. In virtual time there is nothing to bind.
    pub fn binding(mut self, binding: Binding) -> Self {
        self.binding = Some(binding);
        self
    }

    /// Chooses a scheduler by its name (`docs/schedulers.md`): `ws`, a queue for each worker, with stealing; `lws`, the
    /// same by where the data are; `eager`, one queue for all; `prio`, the same by priority; `random`; `dm`, where a task
    /// is expected to end first; `dmda`, the same with transfers; `dmdas`, the same by priority; `heft`, the same by
    /// upward ranks; `sequential`, for tests; `static`, which follows a [plan](Self::plan).
    pub fn scheduler(mut self, name: &str) -> Self {
        self.scheduler = Some(name.to_owned());
        self
    }

    /// Uses a scheduler of the user's.
    pub fn custom_scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.custom = Some(Box::new(scheduler));
        self
    }

    /// Follows the plan in a file, which an earlier run [wrote](Self::write_plan): the scheduler is `static`. Tasks that
    /// do not fit the plan are placed by `dmda`, and the first [differences](crate::Runtime::plan_misfits) are printed.
    pub fn plan(mut self, path: impl Into<PathBuf>) -> Self {
        self.plan = Some(path.into());
        self
    }

    /// Writes which worker ran which task to a file when the runtime is dropped: a plan, as text.
    pub fn write_plan(mut self, path: impl Into<PathBuf>) -> Self {
        self.write_plan = Some(path.into());
        self
    }

    /// Writes what happens, and when, to a file while the program runs: a trace (`docs/traces.md`), which opens in
    /// Perfetto, and in `dahl trace`. If this process has written a trace of that name, it is `NAME-2.json`, and so on.
    pub fn trace(mut self, path: impl Into<PathBuf>) -> Self {
        self.trace = Some(path.into());
        self
    }

    /// Sets what the draws of the scheduler `random` follow from.
    pub fn rand_seed(mut self, seed: u64) -> Self {
        self.rand_seed = Some(seed);
        self
    }

    /// Sets how many tasks may be submitted and not finished; a thread that would submit more helps to run them.
    pub fn tasks_in_flight(mut self, tasks: usize) -> Self {
        self.tasks_in_flight = Some(tasks);
        self
    }

    /// Limits what arrays, arenas and workers' buffers may reserve of the main memory, in units of 2^20 bytes.
    ///
    /// Where an array would exceed it, what is merely kept to be used anew is freed; then, only if tasks in flight hold
    /// enough that nobody else does, the thread helps to run them; else it is an error that names the largest holders.
    pub fn memory_limit_mb(mut self, megabytes: usize) -> Self {
        self.memory_limit_mb = Some(megabytes);
        self
    }

    /// Shows every submission to `observer`.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Simulates a machine: its CPU workers, as many as [`cpu_workers`](Self::cpu_workers) says, and its devices, in
    /// virtual time. Kernels really run; how long they take is what the machine's model says.
    pub fn virtual_machine(mut self, machine: Machine) -> Self {
        self.machine = Some(machine);
        self
    }

    /// Adds a device to the machine that is simulated, which is [`Machine::default`] if nothing else was said.
    pub fn virtual_device(mut self, device: VirtualDevice) -> Self {
        self.machine.get_or_insert_default().devices.push(device);
        self
    }

    /// Stores performance models in this folder, in one of its own for each host and machine, and begins with what is
    /// there (`docs/performance-models.md`).
    pub fn performance_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.performance_dir = Some(folder.into());
        self
    }

    /// Sets whether performance models are measured anew: what is stored of a task that is run is neither used nor kept,
    /// and nothing is expected of it on a kind of worker before it has been measured there several times.
    pub fn calibrate(mut self, calibrate: bool) -> Self {
        self.calibrate = Some(calibrate);
        self
    }

    /// Sets which of a codelet's kernels runs a task whose submitter [named none](crate::Task::kernel): `equal`, the
    /// fastest of those that are declared to give the same bits as the first; `first`, the first declared; `measured`,
    /// the fastest; or the table in a file, `FILE.toml`, as [`KernelChoices::save`](crate::KernelChoices::save) writes
    /// it.
    pub fn kernels(mut self, policy: impl Into<String>) -> Self {
        self.kernels = Some(policy.into());
        self
    }

    /// Sets whether idle workers help parallel kernels.
    pub fn teams(mut self, teams: TeamPolicy) -> Self {
        self.teams = Some(teams);
        self
    }

    /// Sets whether every kernel's outputs and inputs are checked (`docs/checked-mode.md`).
    pub fn check(mut self, check: bool) -> Self {
        self.check = Some(check);
        self
    }

    /// Runs tasks that are ready in an order drawn from `seed`, if the mode is checked: what depends on an order that
    /// dependencies do not fix comes out differently for another seed. The scheduler keeps its name, and nothing else.
    pub fn check_seed(mut self, seed: u64) -> Self {
        self.check_seed = Some(seed);
        self
    }

    /// Sets after how long without a completed task a thread that waits prints why nothing goes on; zero for never.
    pub fn stall_report_after(mut self, time: Duration) -> Self {
        self.stall_after = Some(time);
        self
    }

    /// Hands each stall report to `hook` as well, on the thread that waits.
    pub fn on_stall(mut self, hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stall = Some(OnStall::new(hook));
        self
    }

    /// Names the runtime, for statistics where several runtimes print theirs: else it is `runtime 1`, `runtime 2`, in
    /// the order in which they are built.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets whether [statistics](crate::Runtime::statistics) are printed to standard error when the runtime is dropped. Then it
    /// is also measured how long workers have no task, which costs nothing while they have tasks.
    pub fn statistics(mut self, statistics: bool) -> Self {
        self.statistics = Some(statistics);
        self
    }

    /// Writes the same statistics to a file as JSON instead. Of several runtimes that are to write `run.json`, the second
    /// one writes `run-2.json`.
    pub fn statistics_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.statistics_file = Some(path.into());
        self
    }

    /// The settings, complete and checked.
    #[track_caller]
    pub(crate) fn config(self) -> Result<Config> {
        variables::warn_of_unknown();
        variables::check_level()?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let cpu_workers =
            count("cpu_workers", "DAHL_NCPU", self.cpu_workers, cores.min(MOST_WORKERS), MOST_WORKERS)?;
        let (setting, binding) = binding(self.binding)?;
        let processors = binding.processors(setting, cpu_workers)?;
        let most_mb = usize::MAX >> 20;
        let limit_mb = count("memory_limit_mb", "DAHL_LIMIT_MB", self.memory_limit_mb, usize::MAX, most_mb)?;
        let limit_bytes = (limit_mb != usize::MAX).then_some(limit_mb << 20);
        let machine = match (self.machine, variables::path("DAHL_MACHINE")) {
            (None, Some(path)) => Some(Machine::from_file_of("DAHL_MACHINE", &path)?),
            (machine, _) => machine,
        };
        if let Some(machine) = &machine {
            machine.require_possible("virtual_machine", "machine")?;
        }
        let clock = if machine.is_some() { Clock::start_virtual() } else { Clock::start() };
        let cuda = match &machine {
            None => {
                let (limit_mb, graphs) = (self.cuda_limit_mb, self.cuda_graphs);
                cuda_devices(self.cuda_devices, limit_mb, self.cuda_tf32, graphs, &clock)?
            }
            Some(_) => Vec::new(),
        };
        let simulated = machine.as_ref().map_or(0, |machine| machine.devices.len());
        let workers = cpu_workers + simulated + cuda.len();
        let usual = (TASKS_OF_A_WORKER * workers).clamp(LEAST_TASKS, MOST);
        let tasks_in_flight =
            count("tasks_in_flight", "DAHL_TASKS_IN_FLIGHT", self.tasks_in_flight, usual, MOST)?;
        let rand_seed = from_environment("DAHL_RAND_SEED", self.rand_seed, 0, Some)?;
        let size = Size { workers, tasks_in_flight, rand_seed };
        let (mut scheduler, divergences) = match (self.custom, self.plan) {
            (Some(custom), _) => (custom, None),
            (None, plan) => named_scheduler(self.scheduler, plan, size)?,
        };
        let kernels = match (self.kernels, variables::text("DAHL_KERNELS")?) {
            (Some(policy), _) => KernelPolicy::named("kernels", &policy)?,
            (None, Some(policy)) => KernelPolicy::named("DAHL_KERNELS", &policy)?,
            (None, None) => KernelPolicy::default(),
        };
        let teams = match (self.teams, variables::text("DAHL_TEAMS")?) {
            (Some(teams), _) => teams,
            (None, Some(teams)) => TeamPolicy::named("DAHL_TEAMS", &teams)?,
            (None, None) => TeamPolicy::default(),
        };
        let switch = |value: u64| if value <= 1 { Some(value == 1) } else { None };
        let calibrate = from_environment("DAHL_CALIBRATE", self.calibrate, false, switch)?;
        let store = match (self.performance_dir, variables::path("DAHL_PERF_DIR")) {
            (Some(folder), _) => Some(Store::open("performance_dir", &folder, machine.as_ref())?),
            (None, Some(folder)) => Some(Store::open("DAHL_PERF_DIR", &folder, machine.as_ref())?),
            (None, None) => None,
        };
        let default = cfg!(debug_assertions);
        let check = from_environment("DAHL_CHECK", self.check, default, switch)?;
        let seed =
            from_environment("DAHL_CHECK_SEED", self.check_seed.map(Some), None, |seed| Some(Some(seed)))?;
        if let Some(seed) = seed.filter(|_| check) {
            scheduler = Box::new(Shuffled::new(scheduler.name(), seed));
        }
        let recording = recording(self.write_plan)?;
        if let Some(recording) = &recording {
            scheduler = Box::new(Recorded::new(scheduler, Arc::clone(recording)));
        }
        let trace = TraceFile::from_settings(self.trace, variables::path("DAHL_TRACE"))?;
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let stall_after = from_environment("DAHL_STALL_SECONDS", self.stall_after, STALL_AFTER, seconds)?;
        let statistics = statistics(self.statistics, self.statistics_file)?;
        Ok(Config {
            processors,
            cores,
            scheduler,
            divergences,
            recording,
            trace,
            tasks_in_flight,
            limit_bytes,
            observer: self.observer,
            machine,
            cuda,
            clock,
            performance: perf::Settings { store, calibrate },
            kernels,
            teams,
            check,
            stall_after: Some(stall_after).filter(|time| !time.is_zero()),
            on_stall: self.on_stall,
            name: self.name.unwrap_or_else(default_name),
            built_at: Location::caller(),
            measures_waits: statistics.is_some(),
            statistics,
        })
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
