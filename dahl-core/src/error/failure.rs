//! [`Failure`]: a task that failed, and whether a caller has been told.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use super::{Error, ErrorKind};
use crate::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// A task that failed: the first cause of all errors that follow from it.
#[derive(Debug)]
pub struct Failure {
    /// The codelet of the task.
    pub codelet: &'static str,
    /// The worker that ran it.
    pub worker: String,
    /// The line that submitted it.
    pub location: &'static Location<'static>,
    /// A description: the message of a panic, for instance.
    pub message: String,
    /// The text after its codelet's name.
    what: &'static str,
    /// What callers know of it.
    told: AtomicU8,
    /// The number of failures that it is part of, as long as no caller has been told.
    counted_in: OnceLock<Arc<AtomicU64>>,
}

/// States of a failure: no caller has been told; nor of this one, which is part of a count; one has.
const UNTOLD: u8 = 0;
const COUNTED: u8 = 1;
const TOLD: u8 = 2;

impl Failure {
    pub(crate) fn new(
        codelet: &'static str,
        worker: String,
        location: &'static Location<'static>,
        message: String,
    ) -> Self {
        Self {
            codelet,
            worker,
            location,
            message,
            what: "its kernel failed on",
            told: AtomicU8::new(UNTOLD),
            counted_in: OnceLock::new(),
        }
    }

    /// The same for a task that succeeded, whose outputs were lost.
    pub(crate) fn lost(self) -> Self {
        Self { what: "its result was lost with", ..self }
    }

    /// The same for elements that could not be made available.
    pub(crate) fn unreachable(self) -> Self {
        Self { what: "its elements could not be had on", ..self }
    }

    /// The error for a caller, which marks the failure as reported.
    pub(crate) fn report(self: &Arc<Self>) -> Error {
        if self.told.swap(TOLD, Ordering::AcqRel) == COUNTED
            && let Some(count) = self.counted_in.get()
        {
            count.fetch_sub(1, Ordering::Relaxed);
        }
        Error::at(ErrorKind::Task(Arc::clone(self)), self.location)
    }

    pub(crate) fn is_reported(&self) -> bool {
        self.told.load(Ordering::Relaxed) == TOLD
    }

    /// Adds it to `count`, which it leaves when a caller is told. Once.
    pub(crate) fn count_in(&self, count: &Arc<AtomicU64>) {
        count.fetch_add(1, Ordering::Relaxed);
        let is_first = self.counted_in.set(Arc::clone(count)).is_ok();
        // Who reports it takes it off the count if this has happened before; otherwise that is done here.
        let counted =
            self.told.compare_exchange(UNTOLD, COUNTED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if !is_first || !counted {
            count.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codelet, worker, location, message, what, .. } = self;
        write!(f, "{codelet}: {what} {worker}: {message}, submitted at {location}")
    }
}
