//! How a thread waits for progress, and for a free record when the limit on tasks in flight is reached: the part of
//! [`Shared`] that decides which thread continues.

use super::shared::Shared;
use crate::codelet::in_kernel;
use crate::sleep::Interest;
use crate::stall::Watch;
use crate::sync::atomic::Ordering;
use crate::task::Record;

impl Shared {
    pub(crate) fn drain(&self) {
        self.wait_until(|| self.is_drained());
    }

    /// Waits until `holds`, for something that workers bring about.
    pub(crate) fn wait_until(&self, holds: impl Fn() -> bool) {
        self.wait_with(Interest::Any, holds);
    }

    /// The same, for what `interest` says.
    pub(crate) fn wait_with(&self, interest: Interest, holds: impl Fn() -> bool) {
        if self.is_simulated() {
            return self.simulate_until(holds);
        }
        if holds() {
            return;
        }
        let _waits = self.sleep.host_waits();
        self.progress.wait_until(interest, &mut Watch::new(self), holds);
    }

    /// The same, until tasks let go of bytes; but no longer than it takes to run all that is in flight, since what the
    /// program has forgotten does not come.
    pub(crate) fn wait_for_bytes(&self, holds: impl Fn() -> bool) {
        // When so many tasks have ended, beside another thread that submits, none of those in flight now is left.
        let until = self.completed() + 2 * u64::from(self.limit());
        // Before it waits, as `Monitor::wait_until` asks. Of several threads that wait, the last one to begin says;
        // when that is woken, so are the others.
        self.bytes_until.store(until, Ordering::Relaxed);
        self.wait_with(Interest::Bytes, || holds() || self.is_drained() || self.completed() >= until);
    }

    /// Lets those look again who wait for what comes about when a worker has nothing to do, or has given records back.
    pub(crate) fn tell_of_rest(&self) {
        let is_all_done =
            || self.is_drained() || self.completed() >= self.bytes_until.load(Ordering::Relaxed);
        self.progress.notify_of_rest(is_all_done);
    }

    /// A record to fill in. At the bound on tasks in flight this thread helps to run them.
    pub(crate) fn take_record(&self) -> &Record {
        loop {
            if let Some(record) = self.records.take() {
                return record;
            }
            self.records.grow(self.limit);
            if let Some(record) = self.records.take() {
                return record;
            }
            if in_kernel() {
                // A destructor inside a kernel: it must not wait.
                return self.records.take_or_grow();
            }
            if !self.help() {
                // Nothing is ready: wait until a worker gives records back. Should all records be held by tasks that
                // are still being made, none will come.
                self.wait_with(Interest::Record, || self.records.has_free() || self.is_drained());
                if !self.records.has_free() {
                    return self.records.take_or_grow();
                }
            }
        }
    }

    pub(crate) fn give_back_record(&self, index: u32) {
        self.records.give_back(index);
        self.progress.notify();
    }
}
