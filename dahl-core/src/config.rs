//! [`RuntimeBuilder`]: the settings of a runtime, from calls and from the environment.

use std::env;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::choice::{KernelPolicy, TeamPolicy};
use crate::device::{Machine, VirtualDevice};
use crate::error::{Error, ErrorKind, Result};
use crate::observer::Observer;
use crate::runtime::Runtime;
use crate::scheduler::{self, Scheduler, Shuffled};
use crate::stall::OnStall;

/// Tasks in flight, if nothing is said.
const TASKS_IN_FLIGHT: usize = 4096;
/// How long nothing goes on before a stall is reported, if nothing is said.
const STALL_AFTER: Duration = Duration::from_secs(60);

/// The settings of a [`Runtime`]. What is set by a call counts; what is not comes from the environment, or is default.
///
/// | call | variable | default |
/// |---|---|---|
/// | [`cpu_workers`](Self::cpu_workers) | `DAHL_NCPU` | one for each core |
/// | [`scheduler`](Self::scheduler) | `DAHL_SCHED` | `ws` |
/// | [`tasks_in_flight`](Self::tasks_in_flight) | `DAHL_TASKS_IN_FLIGHT` | 4096 |
/// | [`memory_limit_mb`](Self::memory_limit_mb) | `DAHL_LIMIT_MB` | none |
/// | [`virtual_machine`](Self::virtual_machine) | `DAHL_MACHINE`: a model file | none: the real one |
/// | [`kernels`](Self::kernels) | `DAHL_KERNELS` | `equal` |
/// | [`teams`](Self::teams) | `DAHL_TEAMS` | `measured` |
/// | [`check`](Self::check) | `DAHL_CHECK`: 0 or 1 | on if this crate has debug assertions |
/// | [`check_seed`](Self::check_seed) | `DAHL_CHECK_SEED` | none |
/// | [`stall_report_after`](Self::stall_report_after) | `DAHL_STALL_SECONDS` | 60; 0 for never |
#[derive(Default)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct RuntimeBuilder {
    cpu_workers: Option<usize>,
    scheduler: Option<String>,
    custom: Option<Box<dyn Scheduler>>,
    tasks_in_flight: Option<usize>,
    memory_limit_mb: Option<usize>,
    observer: Option<Arc<dyn Observer>>,
    machine: Option<Machine>,
    kernels: Option<String>,
    teams: Option<TeamPolicy>,
    check: Option<bool>,
    check_seed: Option<u64>,
    stall_after: Option<Duration>,
    on_stall: Option<OnStall>,
}

/// Settings that are complete and checked.
pub(crate) struct Config {
    pub(crate) cpu_workers: usize,
    pub(crate) cores: usize,
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) tasks_in_flight: usize,
    pub(crate) limit_bytes: Option<usize>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// The machine to be simulated.
    pub(crate) machine: Option<Machine>,
    pub(crate) kernels: KernelPolicy,
    pub(crate) teams: TeamPolicy,
    pub(crate) check: bool,
    /// None for never.
    pub(crate) stall_after: Option<Duration>,
    pub(crate) on_stall: Option<OnStall>,
}

impl RuntimeBuilder {
    /// Sets the number of CPU workers. There may be more than cores.
    pub fn cpu_workers(mut self, workers: usize) -> Self {
        self.cpu_workers = Some(workers);
        self
    }

    /// Chooses a scheduler by its name: `ws` (a queue for each worker, with stealing) or `eager` (one queue for all).
    pub fn scheduler(mut self, name: &str) -> Self {
        self.scheduler = Some(name.to_owned());
        self
    }

    /// Uses a scheduler of the user's.
    pub fn custom_scheduler(mut self, scheduler: impl Scheduler + 'static) -> Self {
        self.custom = Some(Box::new(scheduler));
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

    /// Starts the runtime.
    ///
    /// # Errors
    /// If a setting cannot be (the error names it and the choices), or the workers cannot be started.
    #[track_caller]
    pub fn build(self) -> Result<Runtime> {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let cpu_workers = count("cpu_workers", "DAHL_NCPU", self.cpu_workers, cores)?;
        let tasks_in_flight =
            count("tasks_in_flight", "DAHL_TASKS_IN_FLIGHT", self.tasks_in_flight, TASKS_IN_FLIGHT)?;
        let limit_mb = count("memory_limit_mb", "DAHL_LIMIT_MB", self.memory_limit_mb, usize::MAX)?;
        let limit_bytes = (limit_mb != usize::MAX).then_some(limit_mb << 20);
        let machine = match (self.machine, env::var_os("DAHL_MACHINE")) {
            (None, Some(path)) => Some(Machine::from_file(path)?),
            (machine, _) => machine,
        };
        if let Some(machine) = &machine {
            machine.require_possible("virtual_machine")?;
        }
        let workers = cpu_workers + machine.as_ref().map_or(0, |machine| machine.devices.len());
        let mut scheduler = match self.custom {
            Some(custom) => custom,
            None => named_scheduler(self.scheduler, workers, tasks_in_flight)?,
        };
        let kernels = match (self.kernels, env::var("DAHL_KERNELS")) {
            (Some(policy), _) => KernelPolicy::named("kernels", &policy)?,
            (None, Ok(policy)) => KernelPolicy::named("DAHL_KERNELS", &policy)?,
            (None, Err(_)) => KernelPolicy::default(),
        };
        let teams = match (self.teams, env::var("DAHL_TEAMS")) {
            (Some(teams), _) => teams,
            (None, Ok(teams)) => TeamPolicy::named("DAHL_TEAMS", &teams)?,
            (None, Err(_)) => TeamPolicy::default(),
        };
        let switch = |value: u64| if value <= 1 { Some(value == 1) } else { None };
        let default = cfg!(debug_assertions);
        let check = from_environment("DAHL_CHECK", self.check, default, "0 or 1", switch)?;
        let seed =
            from_environment("DAHL_CHECK_SEED", self.check_seed.map(Some), None, "a whole number", |seed| {
                Some(Some(seed))
            })?;
        if let Some(seed) = seed.filter(|_| check) {
            scheduler = Box::new(Shuffled::new(scheduler.name(), seed));
        }
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        let stall_after = from_environment(
            "DAHL_STALL_SECONDS",
            self.stall_after,
            STALL_AFTER,
            "a number of seconds",
            seconds,
        )?;
        Runtime::start(Config {
            cpu_workers,
            cores,
            scheduler,
            tasks_in_flight,
            limit_bytes,
            observer: self.observer,
            machine,
            kernels,
            teams,
            check,
            stall_after: Some(stall_after).filter(|time| !time.is_zero()),
            on_stall: self.on_stall,
        })
    }
}

/// What was set by a call, or else by a variable that holds a number, or else the default.
#[track_caller]
fn from_environment<V>(
    variable: &'static str,
    set: Option<V>,
    default: V,
    expected: &str,
    value: impl FnOnce(u64) -> Option<V>,
) -> Result<V> {
    if let Some(set) = set {
        return Ok(set);
    }
    let Ok(text) = env::var(variable) else { return Ok(default) };
    text.trim().parse().ok().and_then(value).ok_or_else(|| {
        Error::new(ErrorKind::Config { setting: variable, value: text, expected: expected.to_owned() })
    })
}

#[track_caller]
fn count(call: &'static str, variable: &'static str, set: Option<usize>, default: usize) -> Result<usize> {
    let (setting, text) = match set {
        Some(value) => (call, value.to_string()),
        None => match env::var(variable) {
            Ok(text) => (variable, text),
            Err(_) => return Ok(default),
        },
    };
    match text.trim().parse() {
        Ok(value) if (1..=1 << 20).contains(&value) => Ok(value),
        _ => {
            let expected = "a whole number from 1 to 1048576".to_owned();
            Err(Error::new(ErrorKind::Config { setting, value: text, expected }))
        }
    }
}

#[track_caller]
fn named_scheduler(set: Option<String>, workers: usize, tasks: usize) -> Result<Box<dyn Scheduler>> {
    let (setting, name) = match set {
        Some(name) => ("scheduler", name),
        None => ("DAHL_SCHED", env::var("DAHL_SCHED").unwrap_or_else(|_| scheduler::NAMES[0].to_owned())),
    };
    if let Some(scheduler) = scheduler::by_name(&name, workers, tasks) {
        return Ok(scheduler);
    }
    let expected = format!("one of {}", scheduler::NAMES.join(", "));
    Err(Error::new(ErrorKind::Config { setting, value: name, expected }))
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
