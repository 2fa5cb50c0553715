//! [`Missing`]: why elements cannot be had where they are needed; [`Requester`]: by whom.

use std::panic::Location;
use std::sync::Arc;

use super::state::ArrayState;
use crate::error::Failure;
use crate::memory::Shortage;

/// Why elements cannot be had at a memory node.
#[derive(Debug)]
pub(crate) enum Missing {
    /// A task that should have written them failed, or they were lost with a device.
    Poisoned(Arc<Failure>),
    /// There is no room for them.
    Shortage(Shortage),
}

impl Missing {
    /// The failure that `array` is left with.
    pub(crate) fn into_failure(self, array: &ArrayState, requester: Requester) -> Arc<Failure> {
        let shortage = match self {
            Self::Poisoned(failure) => return failure,
            Self::Shortage(shortage) => shortage,
        };
        let message = format!("out of memory: {shortage}");
        let Requester { name, location } = requester;
        let failure = Arc::new(Failure::new(name, "the host".to_owned(), location, message).unreachable());
        array.shared().note_failure(&failure);
        failure
    }
}

/// On whose behalf elements are brought somewhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requester {
    /// The codelet of the task, or the host's call.
    pub(crate) name: &'static str,
    /// The line of the submission, or of the call.
    pub(crate) location: &'static Location<'static>,
}
