//! [`Sorted`]: a sorted queue.

use std::collections::VecDeque;

/// The key that orders a task in a queue: larger ranks first, then smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueKey {
    pub(super) rank: i64,
    pub(super) number: u64,
}

/// A queue sorted by its keys. It allocates only if it grows longer than ever before.
#[derive(Debug)]
pub(super) struct Sorted<T>(VecDeque<(QueueKey, T)>);

impl QueueKey {
    fn is_before(self, other: Self) -> bool {
        (other.rank, self.number) < (self.rank, other.number)
    }
}

impl<T> Sorted<T> {
    pub(super) fn new(capacity: usize) -> Self {
        Self(VecDeque::with_capacity(capacity))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Inserts `value` by its key `place`.
    pub(super) fn insert(&mut self, place: QueueKey, value: T) {
        self.0.insert(self.count_before(place), (place, value));
    }

    /// The number of entries before `place`.
    pub(super) fn count_before(&self, place: QueueKey) -> usize {
        match self.0.back() {
            Some((last, _)) if place.is_before(*last) => {
                self.0.partition_point(|(other, _)| other.is_before(place))
            }
            _ => self.0.len(),
        }
    }

    pub(super) fn pop_front(&mut self) -> Option<T> {
        self.0.pop_front().map(|(_, value)| value)
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        self.0.remove(index).map(|(_, value)| value)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The entries with the rank of the first one.
    pub(super) fn of_first_rank(&self) -> impl Iterator<Item = &T> {
        let rank = self.0.front().map(|(place, _)| place.rank);
        self.0.iter().take_while(move |(place, _)| Some(place.rank) == rank).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::{QueueKey, Sorted};

    #[test]
    fn larger_ranks_come_first_and_of_one_rank_smaller_numbers() {
        let mut sorted = Sorted::new(0);
        for (rank, number) in [(0, 4), (2, 5), (0, 1), (-1, 0), (2, 3), (i64::MAX, 9), (0, 2)] {
            sorted.insert(QueueKey { rank, number }, (rank, number));
        }
        assert_eq!(sorted.count_before(QueueKey { rank: 0, number: 3 }), 5);
        assert_eq!(sorted.remove(3), Some((0, 1)));
        let rest: Vec<_> = std::iter::from_fn(|| sorted.pop_front()).collect();
        assert_eq!(rest, [(i64::MAX, 9), (2, 3), (2, 5), (0, 2), (0, 4), (-1, 0)]);
    }
}
