//! [`Callback`]: a function that is called when a task has ended.
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::Failure;

/// Called with the task's failure, if it has failed.
type Call = Box<dyn FnOnce(Option<&Arc<Failure>>) + Send>;

/// The function to call when a task has ended, on the thread that ran it.
pub(crate) struct Callback(Call);

/// How a task ended; empty until then.
pub(crate) type Outcome = Arc<OnceLock<Option<Arc<Failure>>>>;

impl Callback {
    pub(crate) fn new(call: impl FnOnce(Option<&Failure>) + Send + 'static) -> Self {
        Self(Box::new(move |failure| call(failure.map(Arc::as_ref))))
    }

    /// Calls `earlier`, if there is one, and then records how the task ended in `outcome`.
    pub(crate) fn noting(earlier: Option<Self>, outcome: Outcome) -> Self {
        /// Records it even if the earlier callback panics, since a thread waits for it.
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
