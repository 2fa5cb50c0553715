//! The commute locks of a task: of tasks that change an array in any order, one runs at a time.
#![allow(unsafe_code, reason = "hands a lock to a task that waits, whose record is not free")]

use super::step::Step;
use crate::access::AccessMode;
use crate::description::Action;
use crate::graph::{Dispatch, Submitted};
use crate::sync::atomic::Ordering;

impl<D: Dispatch + ?Sized> Step<'_, D> {
    /// Takes the missing commute locks of the task, array by array, and then schedules it. If it must wait for one, the
    /// task that hands that lock over continues here.
    pub(super) fn acquire_locks(&mut self, task: &Submitted) {
        let record = task.record();
        loop {
            let after = record.next_lock().load(Ordering::Relaxed);
            let commuting = task.accesses().filter(|access| access.mode == AccessMode::COMMUTE);
            let arrays = commuting.filter_map(|access| access.state()).filter(|array| array.slot() >= after);
            let Some(array) = arrays.min_by_key(|array| array.slot()) else {
                return match task.desc().action() {
                    Action::External(_) => self.put_off(task),
                    _ => self.dispatch.schedule(task, self.worker),
                };
            };
            // Before it waits: after that, the record is used by the task that hands the lock over.
            record.next_lock().store(array.slot() + 1, Ordering::Relaxed);
            if !array.commute_lock().acquire(record) {
                return;
            }
        }
    }

    /// Hands over the commute locks of a task that has run.
    pub(super) fn release_locks(&mut self, task: &Submitted) {
        for access in task.accesses().filter(|access| access.mode == AccessMode::COMMUTE) {
            let Some(array) = access.state() else { continue };
            // SAFETY: the task holds the lock; waiting tasks have not been completed, so their records are not free.
            if let Some(next) = unsafe { array.commute_lock().hand_over() } {
                // SAFETY: as above; it holds this lock now, and nothing else handles it.
                let next = unsafe { &*next };
                // SAFETY: as above.
                self.acquire_locks(unsafe { next.submitted() });
            }
        }
    }
}
