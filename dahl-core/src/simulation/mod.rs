//! [`Simulation`]: runs a task graph in virtual time, on a machine that need not exist.
//!
//! Nothing runs beside the host. A thread that waits moves the simulation on: workers that are free take tasks from the
//! scheduler; the kernel of a task runs for real as soon as the task is taken, which nobody can tell, since what
//! depends on it becomes ready only at the event of its end; and when no worker takes any more, the clock moves to the
//! next event. Events at one time happen in the order in which they were made, so a simulation is the same every time.
//!
//! A worker of a device takes a task ahead: what that one needs is transferred while the one before it runs.
//!
//! Submitting takes no virtual time.
#![allow(unsafe_code, reason = "keeps records of tasks from their begin to their end")]

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ptr::NonNull;
use std::sync::{Arc, PoisonError};

use crate::device::{Devices, Speed};
use crate::memory::MemoryNode;
use crate::runtime::Shared;
use crate::sync::{Mutex, MutexGuard};
use crate::task::{ReadyTask, Record};
use crate::worker::{Bench, Issued, finish, issue};

/// Tasks that a worker of a device has taken and not ended: one runs, and one has its data transferred.
const AHEAD: usize = 2;

/// The workers of a simulated machine, and what will happen.
pub(crate) struct Simulation {
    engine: Mutex<Engine>,
}

struct Engine {
    workers: Vec<Worker>,
    /// Ends of tasks: when, in which order they were made, and of which worker.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// Events made so far.
    made: u64,
}

/// A worker that is simulated.
struct Worker {
    bench: Bench,
    /// The device, if it is one.
    device: Option<usize>,
    issued: VecDeque<Task>,
    free_ns: u64,
    busy_ns: u64,
    tasks: u64,
}

/// A task that has begun and not ended.
struct Task {
    record: NonNull<Record>,
    outcome: Issued,
}

// SAFETY: a record may be handled by any thread, and this is its only handle until it has been completed.
unsafe impl Send for Task {}

/// What a worker of a simulated machine has done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkerUse {
    /// Its name: `cpu 0`, or the device's.
    pub name: String,
    /// Tasks that it has run.
    pub tasks: u64,
    /// How long it ran them, in microseconds.
    pub busy_us: f64,
    /// What it took since the runtime was built, in joules, if the model of the machine says.
    pub energy_joules: Option<f64>,
}

impl Simulation {
    pub(crate) fn new(cpu_workers: usize, host: &Arc<MemoryNode>, devices: &Devices) -> Self {
        let cpu = (0..cpu_workers).map(|worker| {
            let bench = Bench::new(Some(worker), format!("cpu {worker}"), host);
            Worker::new(bench, None)
        });
        let of_devices = devices.machine().devices.iter().enumerate().map(|(index, device)| {
            let memory = devices.memory(index + 1).memory();
            let bench = Bench::new(Some(cpu_workers + index), device.name.clone(), memory);
            Worker::new(bench.at_node(index + 1, &device.name), Some(index))
        });
        let workers = cpu.chain(of_devices).collect();
        Self { engine: Mutex::new(Engine { workers, events: BinaryHeap::new(), made: 0 }) }
    }

    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the next thing happen. False if nothing will before something is submitted.
    pub(crate) fn step(&self, shared: &Shared, devices: &Devices) -> bool {
        self.engine().step(shared, devices)
    }

    /// Moves time on to `time_ns`, and lets happen what happens until then.
    pub(crate) fn advance(&self, shared: &Shared, devices: &Devices, time_ns: u64) {
        let mut engine = self.engine();
        loop {
            engine.take_tasks(shared, devices);
            if engine.events.peek().is_none_or(|Reverse((end_ns, ..))| *end_ns > time_ns) {
                break;
            }
            engine.end_task(shared, devices);
        }
        shared.clock().set(time_ns);
    }

    /// What each worker has done.
    pub(crate) fn uses(&self, shared: &Shared, devices: &Devices) -> Vec<WorkerUse> {
        let engine = self.engine();
        let now_ns = shared.clock().now_ns();
        let of = |worker: &Worker| {
            let machine = devices.machine();
            let power = worker.device.map_or((machine.cpu.watts, machine.cpu.idle_watts), |device| {
                (machine.devices[device].watts, machine.devices[device].idle_watts)
            });
            let idle_ns = now_ns.saturating_sub(worker.busy_ns);
            let joules = |(watts, idle_watts): (f64, f64)| {
                (watts * worker.busy_ns as f64 + idle_watts * idle_ns as f64) / 1e9
            };
            WorkerUse {
                name: worker.bench.name().to_owned(),
                tasks: worker.tasks,
                busy_us: worker.busy_ns as f64 / 1e3,
                energy_joules: power.0.zip(power.1).map(joules),
            }
        };
        engine.workers.iter().map(of).collect()
    }
}

impl Worker {
    fn new(bench: Bench, device: Option<usize>) -> Self {
        Self { bench, device, issued: VecDeque::new(), free_ns: 0, busy_ns: 0, tasks: 0 }
    }

    /// Whether it is a device that has run as many tasks as it will.
    fn is_about_to_go(&self, devices: &Devices) -> bool {
        let lost_after = self.device.and_then(|device| devices.machine().devices[device].lost_after);
        lost_after.is_some_and(|tasks| self.tasks >= tasks)
    }

    /// How fast it is.
    fn speed<'d>(&self, devices: &'d Devices) -> &'d Speed {
        let machine = devices.machine();
        self.device.map_or(&machine.cpu.speed, |device| &machine.devices[device].speed)
    }
}

impl Engine {
    fn step(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let taken = self.take_tasks(shared, devices);
        self.end_task(shared, devices) || taken
    }

    /// Lets free workers take tasks, in turn, until none does any more.
    fn take_tasks(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let mut any = false;
        for ahead in 0..AHEAD {
            loop {
                let mut taken = false;
                for worker in 0..self.workers.len() {
                    let most = if self.workers[worker].device.is_some() { AHEAD } else { 1 };
                    if self.workers[worker].issued.len() != ahead || ahead >= most {
                        continue;
                    }
                    if ahead > 0 && self.workers[worker].is_about_to_go(devices) {
                        continue;
                    }
                    if let Some(task) = shared.next_task(worker) {
                        self.begin_task(shared, devices, worker, task);
                        taken = true;
                    }
                }
                any |= taken;
                if !taken {
                    break;
                }
            }
        }
        any
    }

    /// Runs a task, and makes the event of its end.
    fn begin_task(&mut self, shared: &Shared, devices: &Devices, index: usize, task: ReadyTask) {
        let able = task.can_run_on(index);
        if !able && let Some(other) = shared.able_worker(&task) {
            return shared.send_to(other, task);
        }
        let worker = &mut self.workers[index];
        let is_placed = task.is_placed();
        let record = task.record();
        let now_ns = shared.clock().now_ns();
        let device = worker.device.map(|device| &devices.machine().devices[device]);
        let gone = worker.device.filter(|&device| devices.is_lost(device));
        let injected = match device {
            Some(device) if gone.is_some() => Some(format!("the device `{}` is lost", device.name)),
            Some(device) if device.fails_at == Some(worker.tasks + 1) => {
                Some(format!("the device `{}` failed, as it was told to", device.name))
            }
            _ if !able => Some("no worker that is left can run it".to_owned()),
            _ => None,
        };
        let speed = worker.speed(devices).clone();
        let outcome = issue(shared, &mut worker.bench, record, &speed, injected);
        if outcome.has_no_room() && worker.device.is_some() && !is_placed {
            // The task does not fit into the device's memory: the host takes it.
            outcome.let_go();
            let cpu_workers = shared.workers() - devices.machine().devices.len();
            let host = (record.body().sequence % cpu_workers as u64) as usize;
            return shared.send_to(host, ReadyTask::new(record, shared));
        }
        worker.tasks += 1;
        let begin_ns = now_ns.max(worker.free_ns).max(outcome.arrived_ns());
        let end_ns = begin_ns + outcome.duration_ns();
        worker.free_ns = end_ns;
        worker.busy_ns += outcome.duration_ns();
        worker.issued.push_back(Task { record: NonNull::from(record), outcome });
        self.events.push(Reverse((end_ns, self.made, index)));
        self.made += 1;
    }

    /// Moves the clock to the next end of a task. False if there is none.
    fn end_task(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let Some(Reverse((end_ns, _, index))) = self.events.pop() else { return false };
        shared.clock().set(end_ns);
        let worker = &mut self.workers[index];
        let task = worker.issued.pop_front().expect("an event is of a task that has begun");
        // SAFETY: the record is not free before the task has been completed, which happens here.
        let record = unsafe { task.record.as_ref() };
        finish(shared, &mut worker.bench, record, task.outcome);
        worker.bench.recycler.flush(shared);
        if let Some(device) = worker.device
            && worker.is_about_to_go(devices)
            && worker.issued.is_empty()
        {
            devices.lose(device);
        }
        true
    }
}
