//! What the tasks of a program do that no worker runs, and how a replay ends.
#![allow(unsafe_code, reason = "changes arrays whose accesses a program's task holds")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::external::External;
use super::step::Step;
use crate::description::Action;
use crate::device::Requester;
use crate::graph::{ArrayState, Dispatch, Node, Replay, Running, Submitted};

impl<D: Dispatch + ?Sized> Step<'_, D> {
    /// Hands over the first tasks of a replay whose counts are prepared.
    ///
    /// # Safety
    /// The caller has prepared the records, and holds a reference to what keeps the replay until this returns.
    pub(crate) unsafe fn begin_replay(&mut self, replay: &Replay) {
        for &root in replay.roots() {
            // SAFETY: the record is filled in, and counts as submitted since the caller has prepared it.
            self.run(|step| step.hand_over(unsafe { replay.nodes()[root as usize].record.submitted() }));
        }
    }

    /// Counts a program's task that has run in the tasks after it.
    pub(super) fn pass_on(&mut self, node: &Node) {
        // SAFETY: the task has not been counted as ended.
        let replay = unsafe { node.replay() };
        for &after in &node.after {
            let record = &replay.nodes()[after as usize].record;
            if record.count_ready(1) {
                // SAFETY: as in `begin_replay`; the last count makes it ready.
                self.hand_over(unsafe { record.submitted() });
            }
        }
    }

    /// Counts a program's task that has ended, and ends the replay if it was the last.
    pub(super) fn end_node(&mut self, node: &Node) {
        // SAFETY: the task has not been counted as ended.
        if let Some(running) = unsafe { node.replay() }.count_ended() {
            end(running);
        }
    }
}

/// Runs a split or a join of a program, or discards an array's value. The whole array is the first access.
///
/// # Safety
/// The task is ready and not completed.
pub(super) unsafe fn run_inline(task: &Submitted) {
    let location = task.desc().location();
    let whole = task.access(0).state().expect("it is an array's value");
    let parts = || task.accesses().skip(1).filter_map(|access| access.state());
    match task.desc().action() {
        Action::Forget => {
            // SAFETY: guaranteed by the caller: the access is exclusive.
            unsafe { whole.forget_value(Requester { name: "invalidate", location }) };
        }
        // SAFETY: guaranteed by the caller; the accesses to the parts are exclusive.
        Action::Split => unsafe { whole.split(task.access(0).mode, parts(), location) },
        Action::Join => {
            let whole = (!task.access(0).mode.is_shared()).then_some(whole);
            // SAFETY: as above.
            unsafe { ArrayState::join(whole, parts(), location) };
        }
        action => unreachable!("{action:?} is run by a worker"),
    }
}

/// Hands over the first tasks of a replay whose counts are prepared.
///
/// # Safety
/// The records are prepared, and the caller holds a reference to what keeps the replay until this returns.
pub(crate) unsafe fn begin<D: Dispatch + ?Sized>(dispatch: &D, replay: &Replay) {
    // SAFETY: guaranteed by the caller.
    unsafe { Step::new(dispatch, None).begin_replay(replay) };
}

/// Releases an array of a program.
///
/// # Safety
/// Called once, by the owner; no access is submitted after it.
pub(crate) unsafe fn release<D: Dispatch + ?Sized>(dispatch: &D, array: NonNull<ArrayState>) {
    // SAFETY: guaranteed by the caller.
    Step::new(dispatch, None).run(|step| unsafe { ArrayState::release(array, step) });
}

/// Ends a replay all of whose tasks have ended: its envelope has ended, or, if that is a branch or a loop, goes on.
pub(crate) fn end(running: Running) {
    let Running { envelope, keeps } = running;
    // SAFETY: the envelope has not been completed.
    let array = unsafe { envelope.as_ref() }.accesses().find_map(|access| access.state());
    let engine = Arc::clone(array.expect("an envelope has an array").engine());
    keeps.has_ended();
    // SAFETY: it began with the replay, and nothing else completes it.
    unsafe { External::of(envelope, engine) }.end_replay();
    drop(keeps);
}
