//! [`RuntimeBuilder`]: the settings of a runtime, from calls and from the environment.

use std::env;
use std::fmt;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::observer::Observer;
use crate::runtime::Runtime;
use crate::scheduler::{self, Scheduler};

/// Tasks in flight, if nothing is said.
const TASKS_IN_FLIGHT: usize = 4096;

/// The settings of a [`Runtime`]. What is set by a call counts; what is not comes from the environment, or is default.
///
/// | call | variable | default |
/// |---|---|---|
/// | [`cpu_workers`](Self::cpu_workers) | `DAHL_NCPU` | one for each core |
/// | [`scheduler`](Self::scheduler) | `DAHL_SCHED` | `ws` |
/// | [`tasks_in_flight`](Self::tasks_in_flight) | `DAHL_TASKS_IN_FLIGHT` | 4096 |
/// | [`memory_limit_mb`](Self::memory_limit_mb) | `DAHL_LIMIT_MB` | none |
#[derive(Default)]
#[must_use = "a builder does nothing until `.build()`"]
pub struct RuntimeBuilder {
    cpu_workers: Option<usize>,
    scheduler: Option<String>,
    custom: Option<Box<dyn Scheduler>>,
    tasks_in_flight: Option<usize>,
    memory_limit_mb: Option<usize>,
    observer: Option<Arc<dyn Observer>>,
}

/// Settings that are complete and checked.
pub(crate) struct Config {
    pub(crate) cpu_workers: usize,
    pub(crate) cores: usize,
    pub(crate) scheduler: Box<dyn Scheduler>,
    pub(crate) tasks_in_flight: usize,
    pub(crate) limit_bytes: Option<usize>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
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
        let scheduler = match self.custom {
            Some(custom) => custom,
            None => named_scheduler(self.scheduler, cpu_workers, tasks_in_flight)?,
        };
        Runtime::start(Config {
            cpu_workers,
            cores,
            scheduler,
            tasks_in_flight,
            limit_bytes,
            observer: self.observer,
        })
    }
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
