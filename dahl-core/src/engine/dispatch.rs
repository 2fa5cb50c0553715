//! How a ready task gets from the thread that makes it ready to the thread that runs it: a part of [`Shared`], beside
//! the scheduler.
#![allow(unsafe_code, reason = "completes tasks that are recorded and not run")]

use std::sync::Arc;

use crossbeam_queue::SegQueue;

use super::shared::Shared;
use crate::cuda::HostFetch;
use crate::graph::{ArrayState, Dispatch, Host, Log, Submitted};
use crate::task::{ReadyTask, Step, TransferWait};

impl Shared {
    /// A task for the host, which helps. After the workers have ended, it also takes theirs.
    pub(crate) fn next_task_of_host(&self) -> Option<ReadyTask> {
        let of_scheduler = || self.pop(None);
        let of_nobody = || if self.is_stopped() { self.pop_for_nobody() } else { None };
        self.next_partition().or_else(of_scheduler).or_else(of_nobody)
    }

    /// A task of some worker, after the workers have ended.
    #[cold]
    fn pop_for_nobody(&self) -> Option<ReadyTask> {
        let of_mailboxes = self.mailboxes.iter().find_map(SegQueue::pop);
        of_mailboxes.or_else(|| (0..self.workers()).find_map(|worker| self.pop(Some(worker))))
    }

    /// A task from the scheduler. A task of another runtime, which shares the scheduler, is passed to its own.
    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        loop {
            let task = without_unwinding(|| self.scheduler.pop(worker))?;
            if !task.is_of(self.host()) {
                task.send_home();
            } else if self.has_real_devices() && !self.may_run(&task, worker) {
                self.hand_on(task);
            } else {
                return Some(task);
            }
        }
    }

    /// Tells the scheduler that the host begins to wait.
    pub(crate) fn tell_host_waits(&self) {
        without_unwinding(|| self.scheduler.host_waits());
    }

    /// Whether a worker may keep a task in its LIFO slot that its previous task has made ready.
    pub(crate) fn lets_workers_go_on(&self) -> bool {
        without_unwinding(|| self.scheduler.lets_workers_go_on())
    }

    /// Gives a task that any worker may run to the scheduler, including one from a worker's LIFO slot.
    pub(crate) fn push(&self, task: ReadyTask, worker: Option<usize>) {
        if self.scheduler.wakes_workers() {
            return without_unwinding(|| self.scheduler.push(task, worker));
        }
        let to_wake = self.to_wake(&task);
        without_unwinding(|| self.scheduler.push(task, worker));
        self.wake(to_wake);
    }

    /// Tells the scheduler that a task that it handed out has ended.
    pub(crate) fn tell_completed(&self, sequence: u64, worker: Option<usize>) {
        without_unwinding(|| self.scheduler.completed(sequence, worker));
    }

    /// Gives a split or a join to the worker of a device from which its elements are to come; to any, if all have come.
    pub(crate) fn hand_on_wait(&self, mut wait: TransferWait) {
        match wait.next_device() {
            Some(device) => {
                self.transfer_waits[device].push(wait);
                self.sleep().wake(self.cpu_workers() + device);
            }
            None => {
                self.partitions.push(wait.into_task());
                // A worker of a device takes it if all CPU workers have tasks, which may be long.
                if !self.sleep().wake_cpu_worker() {
                    self.sleep().wake_one();
                }
            }
        }
    }

    /// A split or a join whose elements are to come from a device, whose worker looks whether they have.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn next_transfer_wait(&self, device: usize) -> Option<TransferWait> {
        self.transfer_waits[device].pop()
    }

    /// Whether there is one.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn has_transfer_wait(&self, device: usize) -> bool {
        !self.transfer_waits[device].is_empty()
    }

    /// A split or a join that was handed over and whose elements have come.
    pub(crate) fn next_partition(&self) -> Option<ReadyTask> {
        if self.has_real_devices() { self.partitions.pop() } else { None }
    }

    pub(crate) fn next_task(&self, worker: usize) -> Option<ReadyTask> {
        if worker < self.cpu_workers()
            && let Some(partition) = self.next_partition()
        {
            self.wake_in_place_of(worker);
            return Some(partition);
        }
        let mailbox = &self.mailboxes[worker];
        if !mailbox.is_empty()
            && let Some(task) = mailbox.pop()
        {
            self.wake_in_place_of(worker);
            return Some(task);
        }
        self.pop(Some(worker))
    }
}

impl Dispatch for Shared {
    fn host(&self) -> &Host {
        self.host()
    }

    fn schedule(&self, task: &Submitted, worker: Option<usize>) {
        if let Some(log) = self.host().log() {
            return self.record(log, task);
        }
        self.note_ready(task);
        let task = ReadyTask::new(task, self.host());
        if let Some(worker) = task.wants_prefetch() {
            task.prefetch(worker);
        }
        match task.forced_worker() {
            Some(target) => {
                self.send_to(target, task);
            }
            None => self.push(task, worker),
        }
    }

    fn hand_over(&self, task: &Submitted, fetches: Vec<Arc<HostFetch>>) {
        self.hand_on_wait(TransferWait::new(ReadyTask::new(task, self.host()), fetches));
    }
}

impl Shared {
    /// Records a task, and completes it without running it.
    #[cold]
    fn record(&self, log: &Log, task: &Submitted) {
        let arrays = task.accesses().map(|access| access.state().map(ArrayState::id));
        log.task(task.desc(), arrays.collect());
        // SAFETY: this completes the task, below.
        if unsafe { task.take_callback() }.is_some() {
            log.refuse("a callback, or a task that is waited for", task.desc().location());
        }
        Step::new(self, None).complete(task);
        self.host().count_completed_outside();
    }
}

/// Calls a method of the user's scheduler, and aborts if it panics: a task may be lost, and threads that wait for it
/// would lose their stack frames.
pub(crate) fn without_unwinding<R>(call: impl FnOnce() -> R) -> R {
    struct Abort;
    impl Drop for Abort {
        fn drop(&mut self) {
            eprintln!("dahl: a scheduler panicked; no task can be ordered without it, so the process ends");
            std::process::abort();
        }
    }
    let abort = Abort;
    let result = call();
    std::mem::forget(abort);
    result
}
