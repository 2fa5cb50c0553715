//! [`Numbers`]: the numbers of a record's arrays, by their ids.

use super::ids::ById;
use crate::array_id::ArrayId;

/// Arrays have ids in the order in which they were made, and most arrays of a record are made while it grows. So these are
/// in a vector, at the distance of their id from the first one's: what a task needs is near what the task before it needed.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    first: u64,
    near: Vec<u32>,
    /// Those that were made before, or after many other arrays.
    far: ById<u32>,
    /// The highest id of these, or 0.
    far_end: u64,
}

/// In place of a number.
const NONE: u32 = u32::MAX;

impl Numbers {
    /// The number of an array.
    pub(super) fn get(&self, id: ArrayId) -> Option<u32> {
        match self.near(id).and_then(|place| self.near.get(place)) {
            Some(&number) if number != NONE => Some(number),
            // Of a new array.
            _ if id.number() > self.far_end => None,
            _ => self.far.get(&id).copied(),
        }
    }

    /// Gives a number to an array that has none.
    pub(super) fn insert(&mut self, id: ArrayId, number: u32, is_made: bool) {
        if self.near.is_empty() && is_made {
            self.first = id.number();
            self.near.push(number);
            return;
        }
        // Gaps are at most half of the vector, and a bit.
        let limit = 2 * self.near.len() + 64;
        match self.near(id).filter(|place| *place < limit && !self.near.is_empty()) {
            None => {
                self.far_end = self.far_end.max(id.number());
                self.far.insert(id, number);
            }
            Some(place) => {
                if place >= self.near.len() {
                    self.near.resize(place + 1, NONE);
                }
                self.near[place] = number;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.far_end = 0;
    }

    /// The place of an id in the vector, which may end before it.
    fn near(&self, id: ArrayId) -> Option<usize> {
        usize::try_from(id.number().checked_sub(self.first)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Ids that follow each other, with gaps, from before, and far away, in several rounds.
    #[test]
    fn every_array_has_the_number_that_it_was_given() {
        let mut numbers = Numbers::default();
        for round in 0..3_u64 {
            let mut known = HashMap::new();
            let mut random = fastrand::Rng::with_seed(round);
            let mut next = 1000 * (round + 1);
            for number in 0..400_u32 {
                next += random.u64(1..4) + if number % 97 == 96 { 100_000 } else { 0 };
                let id = if number % 5 == 0 { random.u64(1..1000) } else { next };
                let id = ArrayId::new(id);
                assert_eq!(numbers.get(id), known.get(&id).copied());
                if numbers.get(id).is_none() {
                    numbers.insert(id, number, number % 5 != 0);
                    known.insert(id, number);
                }
            }
            for (&id, &number) in &known {
                assert_eq!(numbers.get(id), Some(number));
            }
            numbers.clear();
            assert!(known.keys().all(|id| numbers.get(*id).is_none()));
        }
    }
}
