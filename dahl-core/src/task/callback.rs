//! [`Callback`]: a function that is called when a task has ended.
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::draft::Draft;
use crate::engine::Shared;
use crate::error::{Failure, Result};

/// Called with the task's failure, if it has failed.
type Call = Box<dyn FnOnce(Option<&Arc<Failure>>) + Send>;

/// What is called when a task has ended, on the thread that ran it.
pub(crate) struct Callback(Call);

/// How a task ended, once it has.
pub(super) type Outcome = Arc<OnceLock<Option<Arc<Failure>>>>;

impl Callback {
    pub(super) fn new(call: impl FnOnce(Option<&Failure>) + Send + 'static) -> Self {
        Self(Box::new(move |failure| call(failure.map(Arc::as_ref))))
    }

    /// Calls `earlier`, if there is one, and then notes how the task ended in `outcome`.
    pub(super) fn noting(earlier: Option<Self>, outcome: Outcome) -> Self {
        /// Notes even if the earlier callback panics: somebody waits.
        struct Note(Outcome, Option<Arc<Failure>>);
        impl Drop for Note {
            fn drop(&mut self) {
                let _ = self.0.set(self.1.take());
            }
        }
        Self(Box::new(move |failure| {
            let _note = Note(outcome, failure.cloned());
            if let Some(earlier) = earlier {
                earlier.call(failure);
            }
        }))
    }

    pub(crate) fn call(self, failure: Option<&Arc<Failure>>) {
        (self.0)(failure);
    }
}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callback")
    }
}

/// The end of a task that somebody waits for.
pub(super) struct Ending(Outcome);

impl Draft<'_> {
    /// Lets it be noted how the task ends.
    pub(super) fn note_outcome(&mut self) -> Ending {
        let outcome = Outcome::default();
        let earlier = self.take_callback();
        self.set_callback(Callback::noting(earlier, Arc::clone(&outcome)));
        Ending(outcome)
    }
}

impl Ending {
    /// Waits for it.
    pub(super) fn wait(&self, shared: &Shared) -> Result<()> {
        shared.wait_until(|| self.0.get().is_some());
        match self.0.get().expect("waited for") {
            Some(failure) => Err(failure.report()),
            None => Ok(()),
        }
    }
}
