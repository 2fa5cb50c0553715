//! Submitting a task that is done outside of the runtime.

use super::builder::Task;
use crate::description::Action;
use crate::error::Result;
use crate::graph::Party;
use crate::task::External;

impl Task<'_> {
    /// Submits the task as an external one, which no worker runs: `begin` is called once, when its accesses are held.
    /// It must not block, nor submit. The codelet gives the task its name and its parameters, and needs no kernel.
    ///
    /// # Errors
    /// As [`submit`](Task::submit).
    #[cfg_attr(not(test), expect(dead_code, reason = "what sends and receives is to come"))]
    pub(crate) fn submit_external(mut self, begin: impl FnOnce(External) + Send + 'static) -> Result<()> {
        if let Some(draft) = self.draft.as_mut().filter(|_| self.error.is_none()) {
            let action = draft.desc_mut().action_mut();
            if let Action::Kernel(call) = action {
                *action = Action::External(call.clone());
            }
            draft.set_party(Party::External(External::telling(begin)));
        }
        self.submit()
    }
}
