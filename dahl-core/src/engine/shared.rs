//! [`Shared`]: what the workers of a runtime share, above the [`Host`] of its tasks.

use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_queue::SegQueue;

use super::dispatch::without_unwinding;
use super::helper_pool::HelperPool;
use crate::autotune::Choices;
use crate::check::CheckNotes;
use crate::config::Config;
use crate::description::TaskDesc;
use crate::device::Devices;
use crate::explain::CallLogs;
use crate::graph::{Host, HostParts, Log};
use crate::machine::WorkerInfo;
use crate::memory::{HOME, MemoryNode, MemoryUse, NotesBytes};
use crate::metering::Metering;
use crate::observer::{Observer, Submission};
use crate::perf::Models;
use crate::platform::Platform;
use crate::ranks::Ranks;
use crate::scheduler::{PlanDivergences, Recording, Scheduler, Workers};
use crate::sleep::Sleep;
use crate::stall::Stall;
use crate::statistics::Counters;
use crate::task::{ReadyTask, TransferWait};
use crate::trace::{Recorder, Trace};

/// The state that the workers of a runtime share. It lives as long as any of them, or any of the runtime's arrays.
pub(crate) struct Shared {
    host: Host,
    pub(super) scheduler: Box<dyn Scheduler>,
    divergences: Option<Arc<PlanDivergences>>,
    recording: Option<Arc<Recording>>,
    /// Tasks for one particular worker.
    pub(super) mailboxes: Vec<SegQueue<ReadyTask>>,
    /// Splits and joins that were handed over and whose elements have come.
    pub(super) partitions: SegQueue<ReadyTask>,
    /// Those whose elements are to come, for the worker of each device that it looks after them.
    pub(super) transfer_waits: Vec<SegQueue<TransferWait>>,
    helpers: HelperPool,
    choices: Choices,
    call_logs: CallLogs,
    observer: Option<Arc<dyn Observer>>,
    trace: Option<Trace>,
    /// In checked mode only.
    check_notes: Option<CheckNotes>,
    stall: Stall,
    counters: Counters,
    metering: Metering,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// The shared state extends the state of tasks.
impl Deref for Shared {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
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
        let sleep = Arc::new(Sleep::new(workers, config.processors.len()));
        let links = models.to_vec();
        let transfer_waits = links.iter().map(|_| SegQueue::new()).collect();
        let models = Models::new(config.performance, workers, clock.is_virtual());
        let counters = Counters::new(config.measures_waits && !clock.is_virtual(), workers);
        let mut scheduler = config.scheduler;
        scheduler.start(&Workers::new(infos.clone(), links, clock.clone(), Arc::clone(&sleep)));
        let trace = config.trace.zip(recorder.clone()).map(|(file, recorder)| {
            let of_devices = devices.as_ref().map(Devices::memories).unwrap_or_default();
            let of_devices = of_devices.iter().map(|device| device.memory());
            let nodes: Vec<_> =
                std::iter::once(&memory).chain(of_devices).map(|node| node.name().to_owned()).collect();
            Trace::new(file, recorder, &infos, &nodes, scheduler.name(), config.ranks.as_ref())
        });
        let addresses = devices.iter().flat_map(|devices| devices.memories());
        let addresses = addresses.filter_map(|memory| Some(memory.cuda()?.pci_address().to_owned()));
        let metering = Metering::new(config.energy, addresses.collect(), &clock);
        let host = Host::new(HostParts {
            memory,
            platform: Platform::new(infos, config.cores, devices, is_simulated, models),
            recorder,
            sleep,
            clock,
            tasks_in_flight: config.tasks_in_flight,
            name: config.name,
            built_at: config.built_at,
            log: config.records.then(Log::default),
            ranks: config.ranks.map(Ranks::new),
        });
        Self {
            stall: Stall::new(config.stall_after, config.on_stall, workers, scheduler.name()),
            scheduler,
            divergences: config.divergences,
            recording: config.recording,
            mailboxes: (0..workers).map(|_| SegQueue::new()).collect(),
            partitions: SegQueue::new(),
            transfer_waits,
            helpers: HelperPool::default(),
            choices: Choices::new(config.kernels, config.teams),
            call_logs: CallLogs::default(),
            observer: config.observer,
            trace,
            check_notes: config.check.then(CheckNotes::default),
            counters,
            metering,
            host,
        }
    }

    /// A worker ends. The last one ends the trace: a task may have dropped the runtime itself before.
    pub(crate) fn leave(&self) {
        if let Some(trace) = &self.trace {
            trace.leave();
        }
    }

    pub(crate) fn helpers(&self) -> &HelperPool {
        &self.helpers
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

    pub(crate) fn metering(&self) -> &Metering {
        &self.metering
    }

    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    /// How much memory is in use, for each memory node.
    pub(crate) fn memory_uses(&self) -> Vec<MemoryUse> {
        let mut uses = self.host.memory_uses();
        uses[HOME].learned_bytes = self.models().bytes() + self.choices.bytes() + self.call_logs.bytes();
        uses
    }

    pub(crate) fn call_logs(&self) -> &CallLogs {
        &self.call_logs
    }

    /// Whether anybody asks to be shown submissions.
    pub(crate) fn shows_submissions(&self) -> bool {
        self.observer.is_some() || without_unwinding(|| self.scheduler.sees_submissions())
    }

    /// Whether programs may be kept on workers of one kind.
    pub(crate) fn keeps_programs_together(&self) -> bool {
        without_unwinding(|| self.scheduler.keeps_programs_together())
    }

    pub(crate) fn observe(&self, task: &TaskDesc) {
        without_unwinding(|| self.scheduler.submitted(&Submission::new(task, &**self.host())));
        if let Some(observer) = &self.observer {
            observer.submitted(&Submission::new(task, &**self.host()));
        }
    }

    pub(crate) fn scheduler_name(&self) -> &'static str {
        self.scheduler.name()
    }

    /// The divergences of the run from its plan.
    pub(crate) fn plan_divergences(&self) -> Vec<String> {
        self.divergences.as_ref().map(|divergences| divergences.texts()).unwrap_or_default()
    }

    /// Writes the plan of the run, if it was requested.
    pub(crate) fn write_plan(&self) {
        if let Some(recording) = &self.recording {
            recording.finish();
        }
    }

    /// Shows transfers to the observer. The caller holds no lock.
    pub(crate) fn show_transfers(&self) {
        let (Some(devices), Some(observer)) = (self.devices(), &self.observer) else { return };
        for (transfer, begin_ns, end_ns) in devices.take_unseen() {
            // Nothing may unwind through a waiting thread: events that it waits for would access freed stack frames.
            let shown = catch_unwind(AssertUnwindSafe(|| observer.transferred(&transfer, begin_ns, end_ns)));
            if shown.is_err() {
                eprintln!("dahl: an observer panicked when it was shown a transfer; the run goes on");
            }
        }
    }

    /// The host of the tasks.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// The trace, if there is one.
    pub(crate) fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}
