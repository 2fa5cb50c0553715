//! [`Awaited`]: the messages that this rank waits for, for stall reports.

use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::PoisonError;

use super::transport::Tag;
use crate::sync::Mutex;

/// Why a rank waits for a message.
#[derive(Clone, Debug)]
pub(crate) enum Reason {
    /// A task here needs the value: where it was submitted.
    Value(&'static Location<'static>),
    /// All ranks do this.
    Meeting(String),
}

/// The messages, by sender and tag.
#[derive(Debug, Default)]
pub(crate) struct Awaited(Mutex<BTreeMap<(usize, Tag), Reason>>);

impl Awaited {
    pub(crate) fn add(&self, from: usize, tag: Tag, reason: Reason) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((from, tag), reason);
    }

    pub(crate) fn remove(&self, from: usize, tag: Tag) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(from, tag));
    }

    /// A line for each.
    pub(crate) fn lines(&self) -> Vec<String> {
        let awaited = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |((from, tag), reason): (&(usize, Tag), &Reason)| match (tag, reason) {
            (Tag::Value { array, version }, Reason::Value(location)) => {
                format!(
                    "array {array} of the program, after {version} writes, from rank {from}, as used at {location}"
                )
            }
            (_, Reason::Value(location)) => format!("a message of rank {from}, as needed at {location}"),
            (_, Reason::Meeting(line)) => format!("rank {from}, which has not come to: {line}"),
        };
        awaited.iter().map(line).collect()
    }
}
