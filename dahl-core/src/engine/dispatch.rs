//! How a ready task gets from the thread that makes it ready to the thread that runs it: a part of [`Shared`], beside
//! the scheduler.

use crossbeam_queue::SegQueue;

use super::shared::Shared;
use crate::codelet::in_kernel;
use crate::sync::thread;
use crate::task::{ReadyTask, Submitted};
use crate::worker;

impl Shared {
    /// Runs a ready task on this thread, which is the host's. False if there is none, or another thread is helping.
    pub(crate) fn help(&self) -> bool {
        if let Some((simulation, devices)) = self.simulated() {
            let stepped = simulation.step(self, devices);
            self.show_transfers();
            if let Some(trace) = &self.trace {
                trace.step();
            }
            return stepped;
        }
        let Ok(mut context) = self.host_context.try_lock() else { return false };
        let task = self.pop(None).or_else(|| if self.is_stopped() { self.pop_for_nobody() } else { None });
        let Some(task) = task else { return false };
        worker::execute(self, &mut context, task);
        context.recycler.flush(self);
        drop(context);
        self.progress.notify();
        if self.is_stopped() && self.is_drained() {
            self.sleep.wake_all(); // the workers may go
        }
        true
    }

    /// A task that some worker would have taken, when the workers are gone.
    #[cold]
    fn pop_for_nobody(&self) -> Option<ReadyTask> {
        let of_mailboxes = self.mailboxes.iter().find_map(SegQueue::pop);
        of_mailboxes.or_else(|| (0..self.workers()).find_map(|worker| self.pop(Some(worker))))
    }

    /// A task from the scheduler. One of another runtime, which shares the scheduler, goes where it belongs.
    fn pop(&self, worker: Option<usize>) -> Option<ReadyTask> {
        loop {
            let task = without_unwinding(|| self.scheduler.pop(worker))?;
            if !task.is_of(self) {
                task.send_home();
            } else if self.has_real_devices() && !self.may_run(&task, worker) {
                self.hand_on(task);
            } else {
                return Some(task);
            }
        }
    }

    /// Runs what is submitted after the workers have gone, on this thread.
    ///
    /// A worker goes when it has seen that the runtime is stopped and then that nothing is left to do; a submitter
    /// counts its task and then looks here. In the one order of these steps, either the worker sees the task, or the
    /// submitter that the runtime is stopped.
    #[inline]
    pub(crate) fn serve_if_stopped(&self) {
        if self.is_stopped() && !in_kernel() {
            self.serve();
        }
    }

    #[cold]
    fn serve(&self) {
        while !self.is_drained() {
            if !self.help() {
                thread::yield_now(); // another thread runs the last tasks
            }
        }
    }

    /// Notes when a task has become ready, for a trace.
    pub(crate) fn note_ready(&self, task: &Submitted) {
        if let Some(recorder) = self.recorder() {
            task.note_ready(recorder.now_ns());
        }
    }

    /// Whether a worker may keep a task that its own has made ready in its LIFO slot.
    pub(crate) fn lets_workers_go_on(&self) -> bool {
        without_unwinding(|| self.scheduler.lets_workers_go_on())
    }

    /// Takes a task whose dependencies are met.
    pub(crate) fn schedule(&self, task: ReadyTask, worker: Option<usize>) {
        self.note_ready(task.peek());
        if let Some(worker) = task.wants_prefetch() {
            task.prefetch(worker);
        }
        match task.forced_worker() {
            Some(target) => {
                self.mailboxes[target].push(task);
                self.sleep.wake(target);
            }
            None => self.push(task, worker),
        }
    }

    /// Gives a task that any worker may take to the scheduler: also one that a worker has kept for itself.
    pub(crate) fn push(&self, task: ReadyTask, worker: Option<usize>) {
        without_unwinding(|| self.scheduler.push(task, worker));
        if !self.scheduler.wakes_workers() {
            self.wake_some();
        }
    }

    /// Tells the scheduler that a task has ended which it handed out.
    pub(crate) fn tell_completed(&self, sequence: u64, worker: Option<usize>) {
        without_unwinding(|| self.scheduler.completed(sequence, worker));
    }

    /// Takes back a task that came out of another runtime's hands.
    #[cold]
    pub(crate) fn take_home(&self, task: ReadyTask) {
        let target = task.forced_worker().unwrap_or(0);
        self.mailboxes[target].push(task);
        self.sleep.wake(target);
        self.serve_if_stopped();
    }

    pub(crate) fn next_task(&self, worker: usize) -> Option<ReadyTask> {
        let mailbox = &self.mailboxes[worker];
        if !mailbox.is_empty()
            && let Some(task) = mailbox.pop()
        {
            self.wake_some(); // whoever woke this worker for a task of the scheduler's meant somebody
            return Some(task);
        }
        self.pop(Some(worker))
    }
}

/// Calls a method of the user's scheduler. If it panics, a task may be lost and its waiters' memory unwound, so there
/// is no going on.
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
