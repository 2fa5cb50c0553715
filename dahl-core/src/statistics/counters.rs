//! [`Counters`]: figures that only the statistics need.

use std::sync::PoisonError;

use crossbeam_utils::CachePadded;

use crate::clock::Clock;
use crate::codelet::Codelet;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Counters only for the statistics.
#[derive(Debug)]
pub(crate) struct Counters {
    /// Whether the time that workers look for tasks is measured.
    measures_waits: bool,
    /// The counters of each worker, and finally of the host.
    workers: Vec<CachePadded<WorkerCounters>>,
    /// Tasks that failed or were cancelled, by codelet.
    losses: Mutex<Vec<(&'static Codelet, Losses)>>,
    /// Tasks that were launched together with others, by codelet.
    together: Mutex<Vec<(&'static Codelet, u64)>>,
}

/// The counters of one worker, the only writer.
#[derive(Debug, Default)]
struct WorkerCounters {
    failed: AtomicU64,
    cancelled: AtomicU64,
    lost_ns: AtomicU64,
    /// The total duration of tasks that were launched together.
    together_ns: AtomicU64,
    /// The total of completed times without a task.
    waiting_ns: AtomicU64,
    /// The beginning of the current one, plus one; 0 for none.
    waiting_since: AtomicU64,
    /// The part of these times in which it ran jobs of other workers' kernels.
    helping_ns: AtomicU64,
}

/// How a task ended without success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It failed itself.
    Failed,
    /// One that it depends on failed.
    Cancelled,
}

/// Tasks that did not succeed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    /// The total duration of their kernels.
    pub(crate) lost_ns: u64,
}

/// The times in which a worker had no task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WaitTimes {
    pub(crate) waiting_ns: u64,
    pub(crate) helping_ns: u64,
}

/// Adds to a counter that only this thread writes.
fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Ordering::Relaxed).saturating_add(amount), Ordering::Relaxed);
}

impl Counters {
    /// Counters for so many workers, which wait from the start.
    pub(crate) fn new(measures_waits: bool, workers: usize) -> Self {
        let workers: Vec<_> = (0..=workers).map(|_| CachePadded::<WorkerCounters>::default()).collect();
        workers.iter().for_each(|own| own.waiting_since.store(1, Ordering::Relaxed));
        Self { measures_waits, workers, losses: Mutex::default(), together: Mutex::default() }
    }

    fn of(&self, worker: Option<usize>) -> &WorkerCounters {
        &self.workers[worker.unwrap_or(self.workers.len() - 1)]
    }

    fn all_losses(&self) -> MutexGuard<'_, Vec<(&'static Codelet, Losses)>> {
        self.losses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a task without success, whose kernel had run for `lost_ns`.
    #[cold]
    pub(crate) fn lose(&self, worker: Option<usize>, codelet: &'static Codelet, loss: Loss, lost_ns: u64) {
        let own = self.of(worker);
        let counter = if loss == Loss::Failed { &own.failed } else { &own.cancelled };
        add(counter, 1);
        add(&own.lost_ns, lost_ns);
        let one = Losses {
            failed: u64::from(loss == Loss::Failed),
            cancelled: u64::from(loss == Loss::Cancelled),
            lost_ns,
        };
        let mut losses = self.all_losses();
        match losses.iter_mut().find(|(known, _)| std::ptr::eq(*known, codelet)) {
            Some((_, sum)) => *sum = sum.plus(one),
            None => losses.push((codelet, one)),
        }
    }

    /// Counts a successful task that was launched together with others, so that its own duration is not known; and the
    /// duration of all of them, which is counted with one of them.
    #[cfg_attr(
        any(dahl_fuzz, not(feature = "cuda")),
        expect(dead_code, reason = "there are no such devices")
    )]
    pub(crate) fn end_together(&self, worker: Option<usize>, codelet: &'static Codelet, all_ns: u64) {
        add(&self.of(worker).together_ns, all_ns);
        let mut together = self.together.lock().unwrap_or_else(PoisonError::into_inner);
        match together.iter_mut().find(|(known, _)| std::ptr::eq(*known, codelet)) {
            Some((_, count)) => *count += 1,
            None => together.push((codelet, 1)),
        }
    }

    /// Such tasks, by codelet.
    pub(crate) fn together(&self) -> Vec<(&'static Codelet, u64)> {
        self.together.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The duration of such tasks of a worker.
    pub(crate) fn together_ns_of(&self, worker: usize) -> u64 {
        self.of(Some(worker)).together_ns.load(Ordering::Relaxed)
    }

    /// Records that the thread of a worker begins, which ends its first wait.
    pub(crate) fn begin(&self, worker: usize, clock: &Clock) {
        self.of(Some(worker)).end_wait(clock.now_ns());
    }

    /// Measures how long a worker looks for a task, until the guard is dropped.
    pub(crate) fn wait<'g>(&'g self, worker: usize, clock: &'g Clock) -> Option<impl Drop + use<'g>> {
        /// Ends the measurement.
        struct Waiting<'g>(&'g WorkerCounters, &'g Clock);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.end_wait(self.1.now_ns());
            }
        }
        self.measures_waits.then(|| {
            let own = self.of(Some(worker));
            if own.waiting_since.load(Ordering::Relaxed) == 0 {
                own.waiting_since.store(clock.now_ns() + 1, Ordering::Relaxed);
            }
            Waiting(own, clock)
        })
    }

    /// Measures how long a worker without a task helps others, if it does.
    pub(crate) fn help(&self, worker: usize, clock: &Clock, help: impl FnOnce() -> bool) -> bool {
        if !self.measures_waits {
            return help();
        }
        let begin_ns = clock.now_ns();
        let helped = help();
        if helped {
            add(&self.of(Some(worker)).helping_ns, clock.ns_since(begin_ns));
        }
        helped
    }

    /// Tasks of a worker without success.
    pub(crate) fn losses_of(&self, worker: Option<usize>) -> Losses {
        let own = self.of(worker);
        let [failed, cancelled, lost_ns] =
            [&own.failed, &own.cancelled, &own.lost_ns].map(|counter| counter.load(Ordering::Relaxed));
        Losses { failed, cancelled, lost_ns }
    }

    /// The number of tasks without success.
    pub(crate) fn lost_tasks(&self) -> u64 {
        let of = |own: &CachePadded<WorkerCounters>| {
            own.failed.load(Ordering::Relaxed) + own.cancelled.load(Ordering::Relaxed)
        };
        self.workers.iter().map(of).sum()
    }

    /// Such tasks, by codelet.
    pub(crate) fn losses(&self) -> Vec<(&'static Codelet, Losses)> {
        self.all_losses().clone()
    }

    /// How long a worker had no task until `now_ns`, if that is measured.
    pub(crate) fn waits_of(&self, worker: usize, now_ns: u64) -> Option<WaitTimes> {
        let own = self.of(Some(worker));
        let running = own.waiting_since.load(Ordering::Relaxed).checked_sub(1);
        let running_ns = running.map_or(0, |since_ns| now_ns.saturating_sub(since_ns));
        self.measures_waits.then(|| WaitTimes {
            waiting_ns: own.waiting_ns.load(Ordering::Relaxed) + running_ns,
            helping_ns: own.helping_ns.load(Ordering::Relaxed),
        })
    }
}

impl WorkerCounters {
    fn end_wait(&self, now_ns: u64) {
        let Some(since_ns) = self.waiting_since.load(Ordering::Relaxed).checked_sub(1) else { return };
        add(&self.waiting_ns, now_ns.saturating_sub(since_ns));
        self.waiting_since.store(0, Ordering::Relaxed);
    }
}

impl Losses {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            failed: self.failed + other.failed,
            cancelled: self.cancelled + other.cancelled,
            lost_ns: self.lost_ns.saturating_add(other.lost_ns),
        }
    }
}
