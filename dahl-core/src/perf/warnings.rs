//! [`Warnings`]: problems with stored models that did not end the run.

use std::sync::PoisonError;

use crate::sync::Mutex;

/// Warnings, each printed immediately.
#[derive(Debug, Default)]
pub(super) struct Warnings(Mutex<Vec<String>>);

impl Warnings {
    /// Prints a warning and keeps it.
    pub(super) fn warn(&self, warning: String) {
        eprintln!("dahl: {warning}");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(warning);
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
