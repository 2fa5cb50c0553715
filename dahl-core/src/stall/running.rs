//! [`Stall`]: what a runtime keeps to report stalls.

use std::fmt;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use super::snapshot::{Activity, Snapshot};
use crate::graph::Dispatch;

/// The user's hook for stall reports.
pub(crate) struct OnStall(Box<dyn Fn(&str) + Send + Sync>);

impl OnStall {
    pub(crate) fn new(hook: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Box::new(hook))
    }
}

/// The state for stall reports of a runtime.
pub(crate) struct Stall {
    pub(crate) after: Option<Duration>,
    hook: Option<OnStall>,
    /// The number of completed tasks at the last report, plus one.
    reported: AtomicU64,
    /// The task of each worker, and finally of the host.
    running: Vec<CachePadded<Running>>,
    scheduler: &'static str,
}

/// The task that a thread runs. Only that thread writes it.
#[derive(Default)]
struct Running {
    /// Its number in the order of submission, plus one; 0 for none.
    sequence: AtomicU64,
    since_ns: AtomicU64,
}

impl Stall {
    /// Reports stalls that last for `after`, or none.
    pub(crate) fn new(
        after: Option<Duration>,
        hook: Option<OnStall>,
        workers: usize,
        scheduler: &'static str,
    ) -> Self {
        let running = (0..=workers).map(|_| CachePadded::default()).collect();
        // The fuzzer detects deadlocks itself, and has no time.
        let after = after.filter(|_| !cfg!(dahl_fuzz));
        Self { after, hook, reported: AtomicU64::new(0), running, scheduler }
    }

    fn running(&self, worker: Option<usize>) -> &Running {
        &self.running[worker.unwrap_or(self.running.len() - 1)]
    }

    /// Records that a thread has taken a task.
    pub(crate) fn take(&self, worker: Option<usize>, sequence: u64) {
        self.running(worker).sequence.store(sequence + 1, Ordering::Relaxed);
    }

    /// Records that its kernel begins.
    pub(crate) fn begin(&self, worker: Option<usize>, now_ns: u64) {
        self.running(worker).since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Records that the task has ended.
    pub(crate) fn end(&self, worker: Option<usize>) {
        self.running(worker).sequence.store(0, Ordering::Relaxed);
    }

    /// The activity of each worker, and finally of the host.
    fn activities(&self, dispatch: &dyn Dispatch) -> Vec<Activity> {
        let sleepers = dispatch.host().sleep().sleeping();
        let activity = |(worker, running): (usize, &CachePadded<Running>)| match running
            .sequence
            .load(Ordering::Relaxed)
            .checked_sub(1)
        {
            Some(sequence) => Activity::Runs { sequence, since_ns: running.since_ns.load(Ordering::Relaxed) },
            None if sleepers.contains(&worker) => Activity::Sleeps,
            None => Activity::Looks,
        };
        self.running.iter().enumerate().map(activity).collect()
    }

    /// Prints a report, unless this stall has been reported.
    pub(crate) fn report(&self, dispatch: &dyn Dispatch, completed: u64) {
        if self.reported.swap(completed + 1, Ordering::Relaxed) == completed + 1 {
            return;
        }
        let text = Snapshot::take(dispatch, self.scheduler, self.activities(dispatch), completed).to_string();
        // Nothing may unwind through a waiting thread: its stack frame is used by others.
        let _ = std::io::stderr().write_all(text.as_bytes());
        if let Some(OnStall(hook)) = &self.hook {
            let _ = catch_unwind(AssertUnwindSafe(|| hook(&text)));
        }
    }
}

impl fmt::Debug for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stall").field("after", &self.after).finish_non_exhaustive()
    }
}
