//! [`Pinned`]: a submitted task that a thread inspects without taking part in it.
#![allow(unsafe_code, reason = "keeps a record from being given back")]

use super::step::Step;
use crate::graph::{Dispatch, Record, Submitted};

/// A submitted record that is not returned while this exists: its count of unretired links is incremented. (While a
/// record is free, or is being filled in, that count is 0.)
pub(crate) struct Pinned<'s> {
    dispatch: &'s dyn Dispatch,
    record: &'s Record,
}

impl<'s> Pinned<'s> {
    /// Every submitted record that has not been returned, one at a time.
    pub(crate) fn all(dispatch: &'s dyn Dispatch) -> impl Iterator<Item = Self> {
        dispatch
            .host()
            .records()
            .iter()
            .filter(|record| record.pin())
            .map(move |record| Self { dispatch, record })
    }

    pub(crate) fn task(&self) -> &Submitted {
        // SAFETY: the record is pinned: it was submitted, and is not returned while this exists.
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
