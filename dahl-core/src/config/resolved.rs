//! [`Config`]: the settings of a runtime, completed from the environment and checked.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use dahl_energy::Absence;

use super::RuntimeBuilder;
use super::devices::cuda_devices;
use super::environment::{binding, count, default_name, energy, energy_weight, from_environment, statistics};
use super::schedulers::{Size, named_scheduler, recording};
use super::variables;
use crate::autotune::{KernelPolicy, TeamPolicy};
use crate::clock::Clock;
use crate::device::CudaSetting;
use crate::error::{Error, ErrorKind, Result};
use crate::machine::Machine;
use crate::metering::EnergySetting;
use crate::observer::Observer;
use crate::perf::{self, Store};
use crate::ranks::Transport;
use crate::scheduler::{Eager, PlanDivergences, Recorded, Recording, Scheduler, Shuffled};
use crate::stall::OnStall;
use crate::statistics::Output;
use crate::topology::Processor;
use crate::trace::TraceFile;

/// The default number of tasks in flight for each worker, and the least number in total. Fewer would leave workers idle
/// in wide graphs; more do not stay in the caches from their submission to their end.
const TASKS_OF_A_WORKER: usize = 512;
const LEAST_TASKS: usize = 1024;
/// The most tasks in flight.
const MOST: usize = 1 << 20;
/// The most workers: more than the hardware threads of any machine. Each needs a thread, some 100 kB of memory, and
/// time at the start.
const MOST_WORKERS: usize = 4096;
/// The default time without progress after which a stall is reported.
const STALL_AFTER: Duration = Duration::from_secs(60);

/// Settings that are complete and checked.
pub(crate) struct Config {
    /// The processor of each worker that is bound to one.
    pub(crate) processors: Vec<Option<Processor>>,
    pub(crate) cores: usize,
    pub(crate) rand_seed: u64,
    pub(crate) scheduler: Box<dyn Scheduler>,
    /// For a scheduler that follows a plan.
    pub(crate) divergences: Option<Arc<PlanDivergences>>,
    /// The plan that the run writes.
    pub(crate) recording: Option<Arc<Recording>>,
    /// The file of the trace.
    pub(crate) trace: Option<TraceFile>,
    pub(crate) tasks_in_flight: usize,
    pub(crate) limit_bytes: Option<usize>,
    pub(crate) observer: Option<Arc<dyn Observer>>,
    /// What carries messages, if this is one of several ranks.
    pub(crate) ranks: Option<Arc<dyn Transport>>,
    /// The simulated machine.
    pub(crate) machine: Option<Machine>,
    /// The CUDA devices in use, each of which is an additional worker.
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
    /// Where statistics are written at the end of the run, if anywhere.
    pub(crate) statistics: Option<Output>,
    pub(crate) energy: EnergySetting,
    /// Whether idle times of workers are measured.
    pub(crate) measures_waits: bool,
    /// Whether tasks are only recorded.
    pub(crate) records: bool,
}

impl Config {
    /// Of an engine that only records what is submitted, with as many CPU workers, and the devices of a machine.
    pub(crate) fn recording(cpu_workers: usize, machine: Option<Machine>) -> Self {
        Self {
            processors: vec![None; cpu_workers],
            cores: 1,
            rand_seed: 0,
            scheduler: Box::new(Eager::new(LEAST_TASKS)),
            divergences: None,
            recording: None,
            trace: None,
            tasks_in_flight: LEAST_TASKS,
            limit_bytes: None,
            observer: None,
            ranks: None,
            clock: if machine.is_some() { Clock::start_virtual() } else { Clock::start() },
            machine,
            cuda: Vec::new(),
            performance: perf::Settings { store: None, calibrate: false },
            kernels: KernelPolicy::default(),
            teams: TeamPolicy::default(),
            check: false,
            stall_after: None,
            on_stall: None,
            name: "recording".to_owned(),
            built_at: Location::caller(),
            statistics: None,
            measures_waits: false,
            energy: EnergySetting::Off(Absence::new(
                "nothing runs in a recording",
                "look at the runtime that replays it",
            )),
            records: true,
        }
    }
}

impl RuntimeBuilder {
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
        let energy_weight = energy_weight(self.energy_weight, machine.as_ref(), cpu_workers)?;
        let size = Size { workers, tasks_in_flight, rand_seed, energy: energy_weight };
        let (mut scheduler, divergences) = match (self.custom, self.plan) {
            (Some(custom), _) if size.energy.is_some() => {
                let (setting, value) = ("custom_scheduler", custom.name().to_owned());
                let expected = "a scheduler that weighs energy, since `energy_weight` is set".to_owned();
                return Err(Error::new(ErrorKind::Config { setting, value, expected }));
            }
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
        let is_sampled = trace.is_some() || statistics.is_some() || store.is_some();
        let energy = energy(self.energy_interval, self.energy_meters, is_sampled, clock.is_virtual())?;
        Ok(Config {
            processors,
            cores,
            rand_seed,
            scheduler,
            divergences,
            recording,
            trace,
            tasks_in_flight,
            limit_bytes,
            observer: self.observer,
            ranks: self.ranks,
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
            energy,
            measures_waits: statistics.is_some(),
            statistics,
            records: false,
        })
    }
}
