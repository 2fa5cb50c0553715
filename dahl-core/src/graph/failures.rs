//! [`Failures`]: the failed tasks of a run that no caller has been told of.

use std::mem;
use std::sync::{Arc, PoisonError};

use crate::error::Failure;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard};

/// Failures that are kept. Of further ones the first is, and their number.
const KEPT: usize = 64;

/// Failures of which no caller has been told, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    kept: Vec<Arc<Failure>>,
    /// The first of those that are only counted.
    first_counted: Option<Arc<Failure>>,
    /// How many those are of which no caller has been told, the first included.
    counted: Arc<AtomicU64>,
}

/// What is left to be told.
pub(crate) struct Untold {
    /// The first failures.
    pub(crate) failures: Vec<Arc<Failure>>,
    /// How many more there are, and the first of them.
    pub(crate) more: Option<(u64, Arc<Failure>)>,
}

impl Failures {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps or counts a failure, of which nobody knows yet.
    pub(crate) fn note(&self, failure: &Arc<Failure>) {
        let mut noted = self.noted();
        if noted.kept.len() == KEPT {
            noted.forget_told();
        }
        if noted.counted.load(Ordering::Relaxed) == 0 {
            noted.first_counted = None;
        }
        if noted.kept.len() < KEPT && noted.first_counted.is_none() {
            noted.kept.push(Arc::clone(failure));
        } else {
            failure.count_in(&noted.counted);
            let first = noted.first_counted.take().filter(|first| !first.is_reported());
            noted.first_counted = first.or_else(|| Some(Arc::clone(failure)));
        }
    }

    /// Those of which no caller has been told.
    pub(crate) fn untold(&self) -> Untold {
        let mut noted = self.noted();
        noted.forget_told();
        let count = noted.counted.load(Ordering::Relaxed);
        let more = noted.first_counted.clone().filter(|_| count > 0).map(|first| (count, first));
        Untold { failures: noted.kept.clone(), more }
    }

    /// The first of which no caller has been told; of those that were only counted it stands for all.
    pub(crate) fn take_first(&self) -> Option<Arc<Failure>> {
        let mut noted = self.noted();
        noted.forget_told();
        if let Some(first) = noted.kept.first() {
            return Some(Arc::clone(first));
        }
        // A new count, since failures that are told later are taken off the one that they are part of.
        let count = mem::take(&mut noted.counted).load(Ordering::Relaxed);
        noted.first_counted.take().filter(|_| count > 0)
    }
}

impl Noted {
    fn forget_told(&mut self) {
        self.kept.retain(|failure| !failure.is_reported());
    }
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    fn failure(number: usize) -> Arc<Failure> {
        let location = Location::caller();
        Arc::new(Failure::new("op", "cpu 0".to_owned(), location, format!("failure {number}")))
    }

    fn noted(count: usize) -> (Failures, Vec<Arc<Failure>>) {
        let failures = Failures::default();
        let all: Vec<_> = (0..count).map(failure).collect();
        all.iter().for_each(|failure| failures.note(failure));
        (failures, all)
    }

    #[test]
    fn the_first_failures_are_kept_and_the_others_counted() {
        let (failures, all) = noted(80_000);
        let untold = failures.untold();
        assert_eq!(untold.failures.len(), KEPT);
        assert_eq!(untold.failures[0].message, "failure 0");
        let (count, first) = untold.more.unwrap();
        assert_eq!((count, &*first.message), (80_000 - KEPT as u64, "failure 64"));
        // Of which a caller learns in another way, by reading an array that it left without a value.
        all[..100].iter().for_each(|failure| drop(failure.report()));
        all[99].report();
        let untold = failures.untold();
        assert!(untold.failures.is_empty());
        assert_eq!(untold.more.unwrap().0, 80_000 - 100);
        all.iter().for_each(|failure| drop(failure.report()));
        assert!(failures.untold().more.is_none());
        assert!(failures.take_first().is_none());
    }

    #[test]
    fn failures_are_taken_one_by_one_and_what_was_counted_at_once() {
        let (failures, _) = noted(KEPT + 7);
        for number in 0..=KEPT {
            assert_eq!(failures.take_first().unwrap().message, format!("failure {number}"));
            failures.untold().failures.first().map(|failure| failure.report());
        }
        assert!(failures.take_first().is_none());
        failures.note(&failure(9));
        assert_eq!(failures.take_first().unwrap().message, "failure 9");
    }

    #[test]
    fn what_was_counted_and_then_told_stands_for_nothing() {
        let (failures, all) = noted(KEPT + 1);
        all.iter().for_each(|failure| drop(failure.report()));
        failures.note(&failure(100));
        assert_eq!(failures.take_first().unwrap().message, "failure 100");
        // Of several that were counted the first was told: the next one is the first.
        let (failures, all) = noted(KEPT + 2);
        all[..=KEPT].iter().for_each(|failure| drop(failure.report()));
        failures.note(&failure(100));
        let first = failures.untold().failures.first().map(|failure| failure.message.clone());
        let (count, counted) = failures.untold().more.unwrap();
        assert_eq!((first, count), (None, 2));
        assert_eq!(counted.message, "failure 100", "of the others only their number is kept");
    }

    #[test]
    fn a_failure_that_was_told_makes_room_for_another() {
        let (failures, all) = noted(KEPT);
        all[3].report();
        failures.note(&failure(KEPT));
        let untold = failures.untold();
        assert_eq!(untold.failures.len(), KEPT);
        assert!(untold.more.is_none());
    }
}
