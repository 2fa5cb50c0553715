//! [`Pinned`]: a submitted task that a thread inspects without taking part in it.
#![allow(unsafe_code, reason = "keeps a record from being given back")]

use super::record::{Record, Submitted};
use super::step::Step;
use crate::engine::Shared;

/// A record that was submitted and is not given back as long as this exists: its count of links that are not retired
/// holds one more. (While a record is free, or is being filled in, that count is 0.)
pub(crate) struct Pinned<'s> {
    shared: &'s Shared,
    record: &'s Record,
}

impl<'s> Pinned<'s> {
    /// Every record that is submitted and not given back, one at a time.
    pub(crate) fn all(shared: &'s Shared) -> impl Iterator<Item = Self> {
        shared.records().iter().filter(|record| record.pin()).map(move |record| Self { shared, record })
    }

    pub(crate) fn task(&self) -> &Submitted {
        // SAFETY: the record is pinned: it was submitted, and is not given back as long as this exists.
        unsafe { self.record.submitted() }
    }
}

impl Drop for Pinned<'_> {
    fn drop(&mut self) {
        if self.record.count_retired(1) {
            Step::new(self.shared, None).give_back(self.task());
        }
    }
}
