//! [`Ending`]: how a task ended, for a thread that waits for it.

use std::sync::Arc;

use super::draft::Draft;
use crate::error::Result;
use crate::graph::{Callback, Engine, Outcome};

/// The end of a task that a thread waits for.
pub(crate) struct Ending(Outcome);

impl<E: Engine + ?Sized> Draft<'_, E> {
    /// Makes the task record how it ends.
    pub(crate) fn note_outcome(&mut self) -> Ending {
        let outcome = Outcome::default();
        let earlier = self.take_callback();
        self.set_callback(Callback::noting(earlier, Arc::clone(&outcome)));
        Ending(outcome)
    }
}

impl Ending {
    /// Waits for the end.
    pub(crate) fn wait(&self, engine: &(impl Engine + ?Sized)) -> Result<()> {
        engine.wait_until(&|| self.0.get().is_some());
        match self.0.get().expect("waited for") {
            Some(failure) => Err(failure.report()),
            None => Ok(()),
        }
    }
}
