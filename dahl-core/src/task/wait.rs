//! How the host waits for an array: as a task that nobody runs.
#![allow(unsafe_code, reason = "a waiter on the stack is told by another thread")]

use std::panic::Location;
use std::time::Duration;

use super::draft::Draft;
use super::record::Party;
use super::step::Step;
use crate::access::AccessMode;
use crate::array::ArrayState;
use crate::codelet::in_kernel;
use crate::description::Action;
use crate::device::Requester;
use crate::engine::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::HOME;
use crate::sleep::Lookout;
use crate::stall::Watch;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::thread::{self, Thread};
use crate::sync::{Patience, spin_loop};

/// How long the host looks again and again before it goes to sleep: about what waking it up costs.
const SPIN: Duration = Duration::from_micros(20);

/// A thread that waits for an access.
#[derive(Debug)]
pub(crate) struct Waiter {
    thread: Thread,
    told: AtomicBool,
}

impl Waiter {
    fn new() -> Self {
        Self { thread: thread::current(), told: AtomicBool::new(false) }
    }

    /// Wakes the thread. The waiter may be gone when this returns.
    pub(super) fn tell(&self) {
        let thread = self.thread.clone();
        self.told.store(true, Ordering::Release);
        thread.unpark();
    }

    fn wait(&self, shared: &Shared) {
        if shared.is_simulated() {
            return shared.simulate_until(|| self.told.load(Ordering::Acquire));
        }
        let mut patience = Patience::new(SPIN);
        let mut watch = None;
        let mut waits = None;
        while !self.told.load(Ordering::Acquire) {
            if !patience.is_over() {
                spin_loop();
                continue;
            }
            waits.get_or_insert_with(|| shared.sleep().host_waits());
            let watch = watch.get_or_insert_with(|| Watch::new(shared));
            match watch.patience() {
                Some(patience) => thread::park_timeout(patience),
                None => thread::park(),
            }
            if !self.told.load(Ordering::Acquire) {
                watch.look();
            }
        }
    }
}

/// Waits until the host holds an access to the array, and returns where its elements are.
///
/// The access ends at once: the caller's borrow of the array takes its place.
pub(crate) fn wait_for_access(
    array: &ArrayState,
    mode: AccessMode,
    call: &'static str,
    location: &'static Location<'static>,
) -> Result<*mut u8> {
    if in_kernel() {
        return Err(Error::at(ErrorKind::InsideKernel { call }, location));
    }
    array.flush_pending(mode);
    if let Some(recorder) = array.shared().recorder() {
        recorder.host(array.id(), mode);
    }
    if !array.chain().is_quiet() {
        let shared = array.shared();
        let waiter = Waiter::new();
        let mut draft = Draft::new(shared, Action::Wait, location);
        draft.set_party(Party::Waiter(&waiter));
        draft.push(array, mode, |layout| layout.set_contiguous(&[]));
        let task = draft.submit();
        shared.serve_if_stopped();
        waiter.wait(shared);
        // SAFETY: nobody but this thread completes it.
        Step::new(shared, None).complete(unsafe { &*task });
    }
    let requester = Requester { name: call, location };
    // SAFETY: the accesses that this one had to wait for have ended. The caller borrows the array (for an exclusive
    // access, exclusively), so no conflicting one is submitted meanwhile.
    let pointer = unsafe { array.prepare_at(HOME, mode, requester) };
    array.shared().arrive(array);
    pointer.map_err(|error| error.into_failure(array, requester).report())
}
