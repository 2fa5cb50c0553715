//! [`Recorder`]: receives the events of the runtime.

use std::sync::Arc;

use dahl_trace::format::RunEnergy;

use super::clock_probe::Comparison;
use super::event::{Ended, Failed, Ordered, ReplayedStep, Submitted, TraceEvent};
use super::lanes::Lanes;
use super::task_times::TaskTimes;
use crate::access::AccessMode;
use crate::clock::Clock;
use crate::description::{Action, ArrayId, TaskDesc};
use crate::error::Failure;
use crate::machine::Transfer;
use crate::memory::NotesBytes;
use crate::sync::atomic::{AtomicBool, Ordering};

/// Records events, on any thread.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(super) lanes: Lanes,
    clock: Clock,
    /// Whether the events will be written.
    is_on: AtomicBool,
}

impl Recorder {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { lanes: Lanes::new(), clock, is_on: AtomicBool::new(true) }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Ignores all events from now on.
    pub(super) fn turn_off(&self) {
        self.is_on.store(false, Ordering::Release);
    }

    fn note(&self, ordered: Ordered) {
        if self.is_on.load(Ordering::Relaxed) {
            self.lanes.push(TraceEvent::Ordered(self.lanes.next_number(), ordered));
        }
    }

    /// A task is about to be appended to the chains of its arrays. `returned` is the whole array, if it is a join that
    /// ends the split's access to it. `known_as` are the arrays of its accesses, as users see them, and `bytes` the bytes of them all.
    #[cold]
    pub(crate) fn appended(
        &self,
        task: &TaskDesc,
        known_as: impl Iterator<Item = Option<ArrayId>>,
        bytes: u64,
        returned: Option<ArrayId>,
    ) {
        let copy = || Box::new(task.clone());
        match task.action() {
            Action::Kernel(_) | Action::External(_) => {
                let mut submitted = self.submitted(task, known_as);
                submitted.bytes = Some(bytes);
                submitted.host_ns = self.own_ns(submitted.at_ns);
                self.note(Ordered::Task(submitted));
                self.goes_on();
            }
            Action::Program(_) | Action::Combine(_) => {
                self.note(Ordered::Task(self.submitted(task, known_as)));
            }
            Action::Forget => {
                task.access(0).array().into_iter().for_each(|array| self.note(Ordered::Host(array)))
            }
            Action::Wait => {} // noted before it is known whether there is anything to wait for
            Action::Split => self.note(Ordered::Split(copy())),
            Action::Join => self.note(Ordered::Join { join: copy(), whole: returned }),
        }
    }

    /// A replay begins with these steps: the tasks with the arrays of their accesses as users see them, and of each step those that
    /// come after it, by number.
    #[cold]
    pub(crate) fn replayed<'s, A: Iterator<Item = Option<ArrayId>>>(
        &self,
        steps: impl Iterator<Item = (Option<(&'s TaskDesc, A)>, &'s [u32])>,
    ) {
        let step = |(task, after): (Option<(&TaskDesc, A)>, &[u32])| ReplayedStep {
            task: task.map(|(task, known_as)| self.submitted(task, known_as)),
            after: after.into(),
        };
        self.note(Ordered::Replay(steps.map(step).collect()));
    }

    fn submitted(&self, task: &TaskDesc, known_as: impl Iterator<Item = Option<ArrayId>>) -> Submitted {
        let at_ns = self.now_ns();
        let desc = Box::new(task.clone());
        Submitted { desc, known_as: known_as.collect(), at_ns, host_ns: None, bytes: None }
    }

    /// The host waits for an access to `array`.
    #[cold]
    pub(crate) fn host(&self, array: ArrayId, mode: AccessMode) {
        if !mode.is_shared() {
            self.note(Ordered::Host(array));
        }
    }

    /// This array will not be used any more.
    #[cold]
    pub(crate) fn gone(&self, array: ArrayId) {
        self.note(Ordered::Gone(array));
    }

    #[cold]
    pub(crate) fn transferred(&self, transfer: Transfer, begin_ns: u64, end_ns: u64) {
        self.note(Ordered::Transferred { transfer, begin_ns, end_ns });
    }

    /// A task has ended, and its successors have not been told yet.
    #[cold]
    pub(crate) fn ended(
        &self,
        sequence: u64,
        ready_ns: u64,
        worker: Option<usize>,
        times: TaskTimes,
        failure: Option<&Arc<Failure>>,
        is_cancelled: bool,
    ) {
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let failed =
            |failure| if is_cancelled { Failed::Cancelled(failure) } else { Failed::Itself(failure) };
        self.lanes.push(TraceEvent::Ended(Ended {
            sequence,
            worker,
            times,
            ready_ns,
            ended_ns: self.now_ns(),
            failure: failure.cloned().map(failed),
        }));
    }
}

impl Recorder {
    /// The mean power of a domain, which belongs to a memory node, between two readings of its counter.
    #[cold]
    pub(crate) fn power(&self, domain: &Arc<str>, node: usize, from_ns: u64, to_ns: u64, watts: f64) {
        if self.is_on.load(Ordering::Relaxed) {
            let domain = Arc::clone(domain);
            self.lanes.push(TraceEvent::Power { domain, node, from_ns, to_ns, watts });
        }
    }

    /// The clock was compared with that of rank 0.
    #[cold]
    pub(super) fn compared(&self, comparison: Comparison) {
        if self.is_on.load(Ordering::Relaxed) {
            self.lanes.push(TraceEvent::Compared(comparison));
        }
    }

    /// The energy of the run, at its end.
    #[cold]
    pub(crate) fn energy(&self, energy: RunEnergy) {
        if self.is_on.load(Ordering::Relaxed) {
            self.lanes.push(TraceEvent::Energy(Box::new(energy)));
        }
    }
}

impl NotesBytes for Recorder {
    #[cold]
    fn reserved(&self, node: usize, bytes: i64) {
        if self.is_on.load(Ordering::Relaxed) {
            self.lanes.push(TraceEvent::Reserved { node, bytes, at_ns: self.now_ns() });
        }
    }
}
