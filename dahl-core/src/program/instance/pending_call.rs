//! [`PendingCall`]: a call of a program that has been submitted and has not begun, with what its replay is to use.
#![allow(unsafe_code, reason = "begins a replay whose envelope holds its accesses")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::Instance;
use crate::graph::{ArrayState, Recipient, Submitted};
use crate::program::varying::CallNumbers;
use crate::sync::Mutex;
use crate::task;

/// A call of a program that has been submitted and has not begun. They are recycled: in the steady state a call allocates none.
#[derive(Debug, Default)]
pub(super) struct PendingCall {
    /// None while it is kept for another call.
    instance: Option<Arc<Instance>>,
    /// The arguments and the results.
    pub(super) bound: Vec<NonNull<ArrayState>>,
    pub(super) numbers: CallNumbers,
}

// SAFETY: states are used by any thread that holds accesses to them, as the envelope does.
unsafe impl Send for PendingCall {}

/// Those that wait for the next calls.
#[derive(Debug, Default)]
#[allow(clippy::vec_box, reason = "a call is handed over in its box")]
pub(super) struct PendingCalls(Mutex<Vec<Box<PendingCall>>>);

impl PendingCalls {
    /// One for a call, without arrays.
    pub(super) fn take(&self) -> Box<PendingCall> {
        let mut call = self.0.lock().unwrap_or_else(|poison| poison.into_inner()).pop().unwrap_or_default();
        call.bound.clear();
        call
    }

    fn give_back(&self, call: Box<PendingCall>) {
        self.0.lock().unwrap_or_else(|poison| poison.into_inner()).push(call);
    }
}

impl PendingCall {
    /// The same, as a call of `instance`.
    pub(super) fn of(mut self: Box<Self>, instance: Arc<Instance>) -> Box<Self> {
        self.instance = Some(instance);
        self
    }
}

impl Recipient for PendingCall {
    fn tell(mut self: Box<Self>, envelope: &Submitted) {
        let instance = self.instance.take().expect("it is a call's");
        task::while_beginning(|| {
            // SAFETY: the envelope has just begun. It holds its accesses: to the arrays, and to the turn, so no other
            // replay runs.
            unsafe {
                Arc::clone(&instance).begin(
                    NonNull::from(envelope),
                    self.bound.iter().copied(),
                    &self.numbers,
                )
            };
        });
        instance.pending.give_back(self);
    }
}
