//! How the host waits for an array: by a task that no worker runs.
#![allow(unsafe_code, reason = "a waiter on the stack is told by another thread")]

use std::panic::Location;

use super::draft::Draft;
use super::over_ranks::meet_for_access;
use super::step::Step;
use crate::access::AccessMode;
use crate::codelet::in_kernel;
use crate::description::Action;
use crate::device::Requester;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{ArrayState, Party, Waiter};
use crate::memory::HOME;

/// Waits until the host holds an access to the array, and returns the address of its elements.
///
/// The access ends immediately: the caller's borrow of the array replaces it.
pub(crate) fn wait_for_access(
    array: &ArrayState,
    mode: AccessMode,
    call: &'static str,
    location: &'static Location<'static>,
) -> Result<*mut u8> {
    if in_kernel() {
        return Err(Error::at(ErrorKind::InsideKernel { call }, location));
    }
    let engine = &**array.engine();
    let host = engine.host();
    if host.is_forked() {
        return Err(Error::at(ErrorKind::Forked { subject: call }, location));
    }
    if host.log().is_some() {
        return Err(Error::at(ErrorKind::WhileRecording { call }, location));
    }
    if array.saves().forbids(mode) {
        return Err(Error::at(ErrorKind::WritesTape { call }, location));
    }
    if !mode.is_shared() {
        array.saves().note_write(location);
    }
    meet_for_access(host, array, mode, call, location)?;
    array.flush_pending(mode);
    if let Some(recorder) = host.recorder() {
        recorder.host(array.id(), mode);
    }
    if !array.chain().is_quiet() {
        let waiter = Waiter::new();
        let mut draft = Draft::new(engine, Action::Wait, location);
        draft.set_party(Party::Waiter(&waiter));
        draft.push(array, mode, |layout| layout.set_contiguous(&[]));
        let task = draft.submit();
        engine.serve_if_stopped();
        engine.wait_for_word(&waiter);
        // SAFETY: only this thread completes it.
        Step::new(engine, None).complete(unsafe { &*task });
    }
    let requester = Requester { name: call, location };
    // SAFETY: the accesses that this one waited for have ended. The caller borrows the array (exclusively for an
    // exclusive access), so no conflicting one is submitted meanwhile.
    let pointer = unsafe { array.prepare_at(HOME, mode, requester) };
    if host.is_simulated() {
        engine.arrive(array.replicas().arrived_ns(HOME));
    }
    pointer.map_err(|error| error.into_failure(array, requester).report())
}
