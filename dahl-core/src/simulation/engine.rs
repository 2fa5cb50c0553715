//! [`Engine`]: workers take tasks, and the clock advances from the end of one task to the next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use super::worker::{AHEAD, Progress, Task, Worker, WorkerUsage};
use crate::codelet::kernel_memory;
use crate::device::{Devices, demand_bytes};
use crate::engine::Shared;
use crate::graph::Submitted;
use crate::memory::MemoryNode;
use crate::ranks::Turn;
use crate::task::ReadyTask;
use crate::worker::{Issued, WorkerContext, finish, issue};

/// The workers of a simulated machine, and the future events.
pub(super) struct Engine {
    workers: Vec<Worker>,
    /// Ends of tasks: their time, the order of their creation, and the worker.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    /// The number of events so far.
    made: u64,
    /// Whether the host's thread works.
    host_works: bool,
    /// Tasks that a device was given and cannot run, in the order of their return.
    returned: VecDeque<Returned>,
}

/// A task that a device was given and cannot run.
struct Returned {
    task: ReadyTask,
    /// Whether no device may take it: it does not fit.
    for_cpu: bool,
}

impl Engine {
    pub(super) fn new(cpu_workers: usize, host: &Arc<MemoryNode>, devices: &Devices) -> Self {
        let workers = cpu_workers + devices.machine().devices.len();
        let cpu = (0..cpu_workers).map(|worker| {
            let context = WorkerContext::new(Some(worker), workers, format!("cpu {worker}"), host);
            Worker::new(context, None)
        });
        let of_devices = devices.machine().devices.iter().enumerate().map(|(index, device)| {
            let memory = devices.memory(index + 1).memory();
            let context = WorkerContext::new(Some(cpu_workers + index), workers, device.name.clone(), memory);
            Worker::new(context.at_node(index + 1, &device.name), Some(index))
        });
        let workers = cpu.chain(of_devices).collect();
        Self { workers, events: BinaryHeap::new(), made: 0, host_works: false, returned: VecDeque::new() }
    }

    /// Processes the next event. False if there is none before the next submission.
    pub(super) fn step(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let taken = self.take_tasks(shared, devices);
        match next_turn(shared, self.next_event()) {
            Turn::Own => self.end_task(shared, devices),
            Turn::Network { time_ns, event } => happen(shared, time_ns, event),
            Turn::Nothing => return taken,
        }
        true
    }

    /// Advances time to `time_ns`, and processes the events until then.
    pub(super) fn advance(&mut self, shared: &Shared, devices: &Devices, time_ns: u64) {
        loop {
            self.take_tasks(shared, devices);
            let end_ns = self.next_event().filter(|end_ns| *end_ns <= time_ns);
            match next_turn(shared, Some(end_ns.unwrap_or(time_ns))) {
                Turn::Own if end_ns.is_some() => self.end_task(shared, devices),
                Turn::Network { time_ns, event } => happen(shared, time_ns, event),
                Turn::Own | Turn::Nothing => return shared.clock().set(time_ns),
            }
        }
    }

    /// Advances time while the host does what takes it so long on a core of its own.
    pub(super) fn work(&mut self, shared: &Shared, devices: &Devices, own_ns: u64) {
        let now_ns = || shared.clock().now_ns();
        self.host_works = true;
        self.change_paces(devices, now_ns());
        let mut left_ns = own_ns as f64;
        loop {
            self.take_tasks(shared, devices);
            let (from_ns, share) = (now_ns(), self.share(devices));
            let done_ns = from_ns.saturating_add((left_ns * share).round() as u64);
            let end_ns = self.next_event().filter(|end_ns| *end_ns <= done_ns);
            match next_turn(shared, Some(end_ns.unwrap_or(done_ns))) {
                Turn::Own if end_ns.is_some() => self.end_task(shared, devices),
                Turn::Network { time_ns, event } => happen(shared, time_ns, event),
                Turn::Own | Turn::Nothing => {
                    shared.clock().set(done_ns);
                    break;
                }
            }
            left_ns = (left_ns - (now_ns() - from_ns) as f64 / share).max(0.0);
        }
        self.host_works = false;
        self.change_paces(devices, now_ns());
    }

    /// The counters of each worker.
    pub(super) fn usages(&self) -> Vec<Arc<WorkerUsage>> {
        self.workers.iter().map(|worker| Arc::clone(&worker.usage)).collect()
    }

    /// Lets workers take tasks, in turn, until none does any more: first those without a task, then devices one ahead.
    fn take_tasks(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let mut any = false;
        while (0..AHEAD).any(|ahead| self.take_in_turn(shared, devices, ahead))
            || self.take_from_lost(shared, devices)
        {
            any = true;
        }
        any
    }

    /// Lets each worker that has taken `ahead` tasks take another.
    fn take_in_turn(&mut self, shared: &Shared, devices: &Devices, ahead: usize) -> bool {
        let mut any = false;
        for index in 0..self.workers.len() {
            if self.workers[index].may_take(devices, ahead)
                && let Some((task, had_no_room)) = self.next_task(shared, index)
            {
                self.begin_task(shared, devices, index, task, had_no_room);
                any = true;
            }
        }
        any
    }

    /// The next task of worker `index`: one that waits for memory, one that another worker could not run, or one from
    /// the scheduler. And whether a device had no room for it.
    fn next_task(&mut self, shared: &Shared, index: usize) -> Option<(ReadyTask, bool)> {
        let worker = &mut self.workers[index];
        if let Some(task) = worker.waiting.take() {
            return Some((task, false));
        }
        let is_cpu = worker.device.is_none();
        let suits = |Returned { task, for_cpu }: &Returned| {
            if *for_cpu { is_cpu && task.is_able_on(index) } else { task.can_run_on(index) }
        };
        match self.returned.iter().position(suits) {
            Some(place) => self.returned.remove(place).map(|returned| (returned.task, returned.for_cpu)),
            None => shared.next_task(index).map(|task| (task, false)),
        }
    }

    /// Passes on the tasks of lost devices; tasks that must run there fail.
    fn take_from_lost(&mut self, shared: &Shared, devices: &Devices) -> bool {
        let mut any = false;
        for index in 0..self.workers.len() {
            if !self.workers[index].is_lost(devices) {
                continue;
            }
            while let Some(task) = self.workers[index].waiting.take().or_else(|| shared.next_task(index)) {
                self.begin_task(shared, devices, index, task, false);
                any = true;
            }
        }
        any
    }

    /// Runs a task, and creates the event of its end. If a device `had_no_room` for it, a preference for that device does not count.
    fn begin_task(
        &mut self,
        shared: &Shared,
        devices: &Devices,
        index: usize,
        task: ReadyTask,
        had_no_room: bool,
    ) {
        let worker = &mut self.workers[index];
        let for_cpu = !fits(devices, worker, &task);
        let is_able = if had_no_room { task.is_able_on(index) } else { task.can_run_on(index) };
        if (for_cpu || !is_able) && may_run_elsewhere(shared, &task, for_cpu) {
            return self.returned.push_back(Returned { task, for_cpu });
        }
        let cpu_may_run_it = may_run_elsewhere(shared, &task, true);
        let task = task.task();
        let mut outcome = worker.issue(shared, devices, task, is_able);
        if outcome.has_no_room() && worker.device.is_some() {
            if !worker.issued.is_empty() {
                // The task before it uses the missing memory.
                outcome.let_go();
                worker.waiting = Some(ReadyTask::new(task, shared.host()));
                return;
            }
            outcome.let_go();
            worker.context.free_buffers();
            outcome = worker.issue(shared, devices, task, is_able);
            if outcome.has_no_room() && cpu_may_run_it {
                outcome.let_go();
                let task = ReadyTask::new(task, shared.host());
                return self.returned.push_back(Returned { task, for_cpu: true });
            }
        }
        worker.taken += 1;
        let now_ns = shared.clock().now_ns();
        let begin_ns = now_ns.max(worker.free_ns).max(outcome.arrived_ns());
        worker.free_ns = begin_ns.saturating_add(outcome.duration_ns());
        outcome.begin_at(begin_ns);
        let is_cpu = worker.device.is_none();
        if is_cpu {
            let progress = Progress::new(begin_ns, outcome.duration_ns(), outcome.co_running());
            worker.progress = Some(progress);
        }
        worker.event = self.made;
        self.events.push(Reverse((worker.free_ns, self.made, index)));
        self.made += 1;
        worker.issued.push_back(Task::new(task, outcome));
        if is_cpu {
            self.change_paces(devices, now_ns);
        }
    }

    /// The workers of the CPU that run tasks.
    fn busy(&self) -> usize {
        self.workers.iter().filter(|worker| worker.progress.is_some()).count()
    }

    /// How many times longer the host and the workers of the CPU take, since they share the cores.
    fn share(&self, devices: &Devices) -> f64 {
        devices.machine().share(self.busy() + usize::from(self.host_works))
    }

    /// Notes that a worker of the CPU or the host has begun or ended something: the others' tasks end later or earlier.
    fn change_paces(&mut self, devices: &Devices, now_ns: u64) {
        let (busy, share) = (self.busy(), self.share(devices));
        for (index, worker) in self.workers.iter_mut().enumerate() {
            let Some(progress) = &mut worker.progress else { continue };
            let end_ns = progress.run_beside(busy - 1, share, now_ns);
            if end_ns != worker.free_ns {
                worker.free_ns = end_ns;
                worker.event = self.made;
                self.events.push(Reverse((end_ns, self.made, index)));
                self.made += 1;
            }
        }
    }

    /// The time of the next event. Drops those before it that are outdated.
    fn next_event(&mut self) -> Option<u64> {
        while let Some(&Reverse((end_ns, number, index))) = self.events.peek() {
            let worker = &self.workers[index];
            if worker.device.is_some() || worker.event == number {
                return Some(end_ns);
            }
            self.events.pop();
        }
        None
    }

    /// Advances the clock to the next end of a task, if there is one.
    fn end_task(&mut self, shared: &Shared, devices: &Devices) {
        if self.next_event().is_none() {
            return;
        }
        let Reverse((end_ns, _, index)) = self.events.pop().expect("there is a next event");
        shared.clock().set(end_ns);
        let worker = &mut self.workers[index];
        let mut task = worker.issued.pop_front().expect("an event is of a task that has begun");
        if let Some(progress) = worker.progress.take() {
            task.outcome.took(end_ns - progress.begin_ns());
            self.change_paces(devices, end_ns);
        }
        let worker = &mut self.workers[index];
        worker.usage.count(task.outcome.duration_ns());
        finish(shared, &mut worker.context, task.task(), task.outcome);
        worker.context.recycler.flush(shared);
        if let Some(device) = worker.device
            && worker.is_about_to_go(devices)
            && worker.issued.is_empty()
            && !devices.is_lost(device)
        {
            worker.context.free_buffers();
            devices.lose(device);
        }
    }
}

/// What happens next, if the next event here is at `own_ns`: on one of several ranks, no rank has an earlier event.
fn next_turn(shared: &Shared, own_ns: Option<u64>) -> Turn {
    let turns = shared.host().ranks().and_then(|ranks| ranks.transport().turns());
    match (turns, own_ns) {
        (Some(turns), _) => turns.next(shared.clock().now_ns(), own_ns),
        (None, Some(_)) => Turn::Own,
        (None, None) => Turn::Nothing,
    }
}

/// Advances the clock to an event of the network, which may make tasks ready.
fn happen(shared: &Shared, time_ns: u64, event: Box<dyn FnOnce() + Send>) {
    shared.clock().set(time_ns);
    event();
}

/// Whether there is a worker that can run the task, a CPU worker if `for_cpu`.
fn may_run_elsewhere(shared: &Shared, task: &ReadyTask, for_cpu: bool) -> bool {
    let suits = |worker: usize| {
        if for_cpu {
            shared.worker(worker).is_cpu() && task.is_able_on(worker)
        } else {
            task.can_run_on(worker)
        }
    };
    (0..shared.workers()).any(suits)
}

/// Whether the task fits a device's memory, if that were empty.
fn fits(devices: &Devices, worker: &Worker, task: &ReadyTask) -> bool {
    let limit_bytes = worker.device.and_then(|device| devices.memory(device + 1).memory().limit_bytes());
    limit_bytes.is_none_or(|limit_bytes| demand_bytes(task.peek().desc()) <= limit_bytes)
}

impl Worker {
    /// Runs a task's kernel, or makes it fail.
    fn issue(&mut self, shared: &Shared, devices: &Devices, task: &Submitted, is_able: bool) -> Issued {
        let unable = || (!is_able).then(|| "no worker that is left can run it".to_owned());
        let failure = self.injected_failure(devices).or_else(unable);
        let speed = self.speed(devices);
        let _elsewhere = self.device.is_some().then(kernel_memory::serve_nowhere);
        let _own = kernel_memory::lend(&mut self.kernel_memory);
        issue(shared, &mut self.context, task, (devices.machine(), speed), failure)
    }
}
