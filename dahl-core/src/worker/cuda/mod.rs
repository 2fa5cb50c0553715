//! The worker of a CUDA device: it issues tasks into the device's streams, and ends them when an event signals that
//! they have run (`dahl-driver/README.md`).
//!
//! `issue` goes from a task to its launch, `call` to a library, `operands` to the addresses of its arrays, `parameters`
//! to the parameters of its kernel; `program` runs whole programs as graphs; `underway` has the tasks in the streams. Not here: calls of the driver
//! (`dahl-driver`), and which replicas arrays have (`array`).
#![allow(unsafe_code, reason = "launches kernels on arrays of tasks that hold their accesses")]

mod call;
mod issue;
mod operands;
mod parameters;
mod program;
mod underway;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use call::Libraries;
use underway::Underway;

use super::context::WorkerContext;
use super::execute::{complete, end, execute};
use super::task_error::TaskError;
use crate::cuda::{CudaDevice, Names, Queue};
use crate::description::Action;
use crate::device::{DeviceMemory, Devices, demand_bytes};
use crate::engine::Shared;
use crate::graph::Submitted;
use crate::sleep::Park;
use crate::sync::thread::{Builder, JoinHandle};
use crate::sync::{Patience, spin_loop, thread};
use crate::task::{ReadyTask, Step, TransferWait};
use crate::trace::Recorder;

/// Tasks that are issued and have not ended: enough that the device need not wait for the host,
/// few enough that taken tasks could not have run elsewhere sooner.
const AHEAD: usize = 4;
/// As many tasks may be issued as take this time, if that is more: during a long one the host can issue
/// several that are shorter than their own issue.
const AHEAD_NS: u64 = 500_000;
/// The most tasks that are issued and not ended.
const MOST_AHEAD: usize = 16;
/// How long a worker spins before it parks.
const SPIN: Duration = Duration::from_micros(50);
/// How long it spins while its device works, so that threads that wait for a result are woken without the worker's own
/// wake-up time.
const SPIN_BUSY: Duration = Duration::from_millis(1);
/// The period of its parks while its device works.
const PARK_TIMEOUT: Duration = Duration::from_micros(50);

/// After how many tasks a busy worker counts the transfers that have ended.
const COUNT_EVERY: u32 = 64;

/// Starts a thread for each CUDA device.
pub(super) fn start(shared: &Arc<Shared>) -> io::Result<Vec<JoinHandle<()>>> {
    let devices = shared.devices().filter(|_| shared.has_real_devices());
    let count = devices.map_or(0, |devices| devices.memories().len());
    let start = |device: usize| {
        let shared = Arc::clone(shared);
        Builder::new().name(format!("dahl cuda {device}")).spawn(move || run(&shared, device))
    };
    (0..count).map(start).collect()
}

/// The loop of a device's worker: until the runtime stops and no task is left.
fn run(shared: &Arc<Shared>, device: usize) {
    let _away = shared.recorder().map(Recorder::away);
    let mut worker = Worker::new(shared, device);
    shared.counters().begin(worker.number, shared.clock());
    while worker.step() {}
    worker.context.free_buffers();
    shared.leave();
}

/// The worker of a CUDA device.
struct Worker<'s> {
    shared: &'s Shared,
    /// Its number among all workers.
    number: usize,
    memory: &'s DeviceMemory,
    device: &'s Arc<CudaDevice>,
    context: WorkerContext,
    /// In the order in which they were issued, which is that in which they end.
    underway: VecDeque<Underway>,
    /// Splits and joins that wait for copies from the device, about in the order of these.
    transfer_waits: VecDeque<TransferWait>,
    /// When the last task ended.
    ended_ns: u64,
    /// The approximate mean duration of recent tasks.
    mean_ns: u64,
    /// Tasks that have ended since transfers were last counted.
    uncounted: u32,
    patience: Patience,
    /// Names for profilers.
    names: Names,
    /// The libraries that its kernels have called.
    libraries: Libraries,
    /// Those for calls that are parts of graphs.
    captured_libraries: Libraries,
}

impl<'s> Worker<'s> {
    fn new(shared: &'s Shared, device: usize) -> Self {
        let memory = devices(shared).memory(device + 1);
        let number = shared.cpu_workers() + device;
        let info = shared.worker(number);
        let context = WorkerContext::new(Some(number), shared.workers(), info.name.clone(), memory.memory())
            .at_node(device + 1, &info.kind);
        Self {
            shared,
            number,
            memory,
            device: memory.cuda().expect("a CUDA device's worker has one"),
            context,
            underway: VecDeque::with_capacity(MOST_AHEAD),
            transfer_waits: VecDeque::new(),
            ended_ns: 0,
            mean_ns: AHEAD_NS,
            uncounted: 0,
            patience: Patience::new(SPIN),
            names: Names::default(),
            libraries: Libraries::new(Queue::Compute),
            captured_libraries: Libraries::new(Queue::Capture),
        }
    }

    fn is_lost(&self) -> bool {
        devices(self.shared).is_lost(self.device.index())
    }

    /// Does one step. False if nothing is left to do.
    fn step(&mut self) -> bool {
        if self.end_tasks() | self.end_transfer_waits() {
            self.look_on();
        }
        if self.has_room()
            && let Some(task) = self.shared.next_task(self.number)
        {
            self.take(task);
            self.look_on();
            return true;
        }
        if !self.patience.is_over() {
            thread::yield_now();
            spin_loop();
            return true;
        }
        self.sleep()
    }

    /// Whether it may take another task: few enough are in flight.
    fn has_room(&self) -> bool {
        let short = (AHEAD_NS / self.mean_ns.max(1)).min(MOST_AHEAD as u64) as usize;
        self.underway.len() < AHEAD.max(short)
    }

    /// Hands on the splits and joins whose copies from this device have ended. Whether there were any.
    fn end_transfer_waits(&mut self) -> bool {
        while let Some(wait) = self.shared.next_transfer_wait(self.device.index()) {
            self.transfer_waits.push_back(wait);
        }
        let mut any = false;
        // Copies to the host end in their order: those behind one that waits wait too, or will not for long.
        while let Some(mut first) = self.transfer_waits.pop_front() {
            if first.next_device() == Some(self.device.index()) {
                self.transfer_waits.push_front(first);
                break;
            }
            self.shared.hand_on_wait(first);
            any = true;
        }
        any
    }

    /// Parks until there is a task, or for a period while the device works. False if the runtime has stopped.
    fn sleep(&mut self) -> bool {
        let (shared, number) = (self.shared, self.number);
        let is_idle = self.underway.is_empty();
        let is_busy = !is_idle || !self.transfer_waits.is_empty();
        if !is_busy {
            self.rest();
        }
        let stopped = || !is_busy && shared.is_stopped() && shared.is_drained();
        if stopped() {
            shared.sleep().wake_all();
            return false;
        }
        if !self.has_room() {
            // Nobody may count on this worker for a task.
            shared.sleep().pause(number, PARK_TIMEOUT);
            return true;
        }
        // With nothing else to do it takes what CPU workers have left: they may all have long tasks.
        let look = || {
            let task = shared.next_task(number);
            task.or_else(|| if is_idle { shared.next_partition() } else { None })
        };
        let stays = || stopped() || shared.has_transfer_wait(self.device.index());
        let _waits = (!is_busy).then(|| shared.counters().wait(number, shared.clock()));
        let park = if is_busy { Park::AtMost(PARK_TIMEOUT) } else { Park::Untimed };
        let task = shared.sleep().sleep(number, look, stays, park);
        // While its device works, it only looks once between two parks.
        if !is_busy || task.is_some() {
            self.look_on();
        }
        task.into_iter().for_each(|task| self.take(task));
        true
    }

    /// Starts spinning again.
    fn look_on(&mut self) {
        self.patience = Patience::new(if self.underway.is_empty() { SPIN } else { SPIN_BUSY });
    }

    /// Work for idle times.
    fn rest(&mut self) {
        self.count_transfers();
        self.shared.show_transfers();
        self.context.recycler.flush(self.shared);
        self.shared.progress().notify();
        if !self.is_lost()
            && let Err(error) = self.device.rest()
            && error.is_loss()
        {
            self.shared.lose_device(self.device.index());
        }
    }

    /// Takes a task: issues it, or passes it on.
    fn take(&mut self, task: ReadyTask) {
        let shared = self.shared;
        if task.is_of_partition() {
            execute(shared, &mut self.context, task);
            return self.tell();
        }
        if matches!(task.peek().desc().action(), Action::Program(_)) {
            return self.take_program(task.task());
        }
        if !task.can_run_on(self.number) {
            match shared.able_worker(&task) {
                Some(_) => return shared.hand_on(task),
                None => {
                    let why = "no worker that is left can run it".to_owned();
                    return self.fail(task.task(), TaskError::Failed(why));
                }
            }
        }
        let limit_bytes = self.memory.memory().limit_bytes();
        let too_large = limit_bytes.is_some_and(|limit| demand_bytes(task.peek().desc()) > limit);
        if too_large && let Some(able) = able_cpu_worker(shared, &task) {
            return shared.send_to(able, task);
        }
        let task = task.task();
        shared.stall().take(Some(self.number), task.desc().sequence());
        match self.issue(task) {
            Ok(underway) => {
                let is_released_early = underway.is_released_early();
                self.underway.push_back(underway);
                if is_released_early {
                    let WorkerContext { recycler, lifo_slot, .. } = &mut self.context;
                    Step::of_worker(shared, Some(self.number), recycler, lifo_slot).release_early(task);
                }
            }
            Err(error @ (TaskError::NoRoom(_) | TaskError::Unable(_))) => {
                // None of it is in the streams, and its accesses are unchanged.
                let task = ReadyTask::new(task, shared);
                match able_cpu_worker(shared, &task) {
                    Some(able) => shared.send_to(able, task),
                    None => self.fail(task.task(), error),
                }
            }
            Err(error) => self.fail(task, error),
        }
    }

    /// Fails a task that was not issued.
    fn fail(&mut self, task: &Submitted, error: TaskError) {
        complete(self.shared, &mut self.context, task, Err(error));
        self.tell();
    }

    /// Ends the tasks that have run. Returns whether there were any.
    fn end_tasks(&mut self) -> bool {
        let mut any = false;
        while let Some(first) = self.underway.front() {
            match first.has_run() {
                _ if self.is_lost() => {
                    self.fail_all();
                    return true;
                }
                Ok(false) => break,
                Ok(true) => {
                    let underway = self.underway.pop_front().expect("there is a first one");
                    self.end_task(underway, None);
                    self.uncounted += 1;
                    any = true;
                }
                Err(error) => {
                    eprintln!("dahl: {}: {error}", self.context.name());
                    self.shared.lose_device(self.device.index());
                }
            }
        }
        if any {
            self.tell();
        }
        if self.uncounted >= COUNT_EVERY {
            self.count_transfers();
        }
        any
    }

    /// Counts the transfers that have ended, which releases their events.
    fn count_transfers(&mut self) {
        self.uncounted = 0;
        devices(self.shared).count_ended();
    }

    /// Fails the tasks that the device had not completed when it was lost.
    fn fail_all(&mut self) {
        self.device.drain(); // what it may still do writes memory that goes with the tasks
        while let Some(underway) = self.underway.pop_front() {
            // Tasks that had run before have succeeded.
            let lost = !underway.has_run().unwrap_or(false);
            self.end_task(underway, lost.then(|| format!("the device `{}` is lost", self.context.name())));
        }
        self.tell();
    }

    fn end_task(&mut self, underway: Underway, lost: Option<String>) {
        let task = underway.task();
        let is_released_early = underway.is_released_early();
        let outcome = match lost {
            Some(why) => {
                self.context.times = underway.times();
                Err(TaskError::Failed(why))
            }
            None => underway.measure(self),
        };
        if let Some(kernel_ns) = self.context.times.kernel_ns {
            self.mean_ns = (7 * self.mean_ns + kernel_ns) / 8;
        }
        if is_released_early {
            end(self.shared, &mut self.context, task, outcome);
        } else {
            complete(self.shared, &mut self.context, task, outcome);
        }
    }

    /// Notifies waiting threads that tasks have ended.
    fn tell(&mut self) {
        self.context.recycler.flush(self.shared);
        self.shared.progress().notify();
    }
}

/// A CPU worker that can run a task, even if that prefers a device: not always the first one.
fn able_cpu_worker(shared: &Shared, task: &ReadyTask) -> Option<usize> {
    let cpu_workers = shared.cpu_workers();
    let mut in_turn = (0..cpu_workers).map(|index| (task.sequence() as usize + index) % cpu_workers);
    in_turn.find(|&worker| task.is_able_on(worker))
}

fn devices(shared: &Shared) -> &Devices {
    shared.devices().expect("a runtime with a worker of a device has devices")
}
