//! [`Pinned`]: a submitted task that a thread inspects without taking part in it.
#![allow(unsafe_code, reason = "keeps a record from being given back")]

use super::step::Step;
use crate::graph::{Dispatch, Record, Submitted};

/// A record that was submitted and is not given back as long as this exists: its count of links that are not retired
/// holds one more. (While a record is free, or is being filled in, that count is 0.)
pub(crate) struct Pinned<'s> {
    dispatch: &'s dyn Dispatch,
    record: &'s Record,
}

impl<'s> Pinned<'s> {
    /// Every record that is submitted and not given back, one at a time.
    pub(crate) fn all(dispatch: &'s dyn Dispatch) -> impl Iterator<Item = Self> {
        dispatch
            .host()
            .records()
            .iter()
            .filter(|record| record.pin())
            .map(move |record| Self { dispatch, record })
    }

    pub(crate) fn task(&self) -> &Submitted {
        // SAFETY: the record is pinned: it was submitted, and is not given back as long as this exists.
        unsafe { self.record.submitted() }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if self.record.count_retired(1) {
            Step::new(self.dispatch, None).give_back(self.task());
        }
    }
}
