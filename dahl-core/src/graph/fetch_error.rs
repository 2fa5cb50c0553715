//! How an array fails whose elements cannot be fetched.

use std::sync::Arc;

use super::state::ArrayState;
use crate::device::{FetchError, Requester};
use crate::error::Failure;

impl FetchError {
    /// The failure of `array` that follows from it.
    pub(crate) fn into_failure(self, array: &ArrayState, requester: Requester) -> Arc<Failure> {
        let message = match self {
            Self::Poisoned(failure) => return failure,
            error => error.to_string(),
        };
        let Requester { name, location } = requester;
        let failure = Arc::new(Failure::new(name, "the host".to_owned(), location, message).unreachable());
        array.host().note_failure(&failure);
        failure
    }
}
