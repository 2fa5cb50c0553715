//! [`OwnTime`]: what a thread of the host does by itself between two submissions.

use std::cell::Cell;

use super::recorder::Recorder;
use crate::sync::thread_local;

/// The time that a thread has spent outside of waiting since its last submission to the runtime of one recorder.
#[derive(Clone, Copy, Default)]
struct OwnTime {
    /// The address of the recorder; 0 before the first submission.
    recorder: usize,
    /// The own time until `since_ns`.
    before_ns: u64,
    since_ns: u64,
    /// How many waits the thread is in; a worker is always in one.
    waits: u32,
}

thread_local! {
    static OWN: Cell<OwnTime> = const { Cell::new(OwnTime { recorder: 0, before_ns: 0, since_ns: 0, waits: 0 }) };
}

/// Until it is dropped, this thread waits, runs tasks or simulates: that is no time of its own.
#[must_use = "the wait ends when it is dropped"]
pub(crate) struct Away<'r>(&'r Recorder);

impl Recorder {
    /// Its address, by which threads know whose submissions they count.
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    /// This thread begins to wait, or to run tasks.
    pub(crate) fn away(&self) -> Away<'_> {
        let mut own = OWN.with(Cell::get);
        if own.waits == 0 && own.recorder == self.address() {
            own.before_ns += self.now_ns().saturating_sub(own.since_ns);
        }
        own.waits += 1;
        OWN.with(|cell| cell.set(own));
        Away(self)
    }

    /// Counts time that a simulated host has spent.
    pub(crate) fn worked(&self, ns: u64) {
        let mut own = OWN.with(Cell::get);
        own.before_ns += ns;
        OWN.with(|cell| cell.set(own));
    }

    /// What this thread has done by itself since its last submission, until `now_ns`. None if that was no submission to this
    /// runtime, or if the thread waits, as one does that runs a callback.
    pub(super) fn own_ns(&self, now_ns: u64) -> Option<u64> {
        let own = OWN.with(Cell::get);
        let is_known = own.recorder == self.address() && own.waits == 0;
        is_known.then(|| own.before_ns + now_ns.saturating_sub(own.since_ns))
    }

    /// This thread has submitted a task, and recorded that.
    pub(super) fn goes_on(&self) {
        let own = OWN.with(Cell::get);
        if own.waits == 0 {
            let anew = OwnTime { recorder: self.address(), before_ns: 0, since_ns: self.now_ns(), waits: 0 };
            OWN.with(|cell| cell.set(anew));
        }
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        let mut own = OWN.with(Cell::get);
        own.waits -= 1;
        // Another runtime has another clock.
        if own.recorder == self.0.address() {
            own.since_ns = self.0.now_ns();
        }
        OWN.with(|cell| cell.set(own));
    }
}

#[cfg(test)]
mod tests {
    use super::Recorder;
    use crate::clock::Clock;

    #[test]
    fn waits_and_other_runtimes_are_no_own_time() {
        let clock = Clock::start_virtual();
        let recorder = Recorder::new(clock.clone());
        let other = Recorder::new(Clock::start_virtual());
        assert_eq!(recorder.own_ns(0), None, "there was no submission");
        recorder.goes_on();
        clock.set(5);
        let waits = recorder.away();
        clock.set(100);
        assert_eq!(recorder.own_ns(100), None, "a callback submits");
        recorder.goes_on();
        drop(recorder.away());
        drop(waits);
        clock.set(103);
        assert_eq!(recorder.own_ns(103), Some(8));
        recorder.worked(4);
        assert_eq!(recorder.own_ns(103), Some(12));
        assert_eq!(other.own_ns(0), None);
        recorder.goes_on();
        assert_eq!(recorder.own_ns(104), Some(1));
    }
}
