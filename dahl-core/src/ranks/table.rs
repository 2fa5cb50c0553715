//! [`Table`]: which ranks have a copy of which array.

use std::collections::HashMap;

use super::transport::Tag;
use crate::array_id::ArrayId;

/// The copies of all arrays in use. It is the same on all ranks at the same place of the program.
#[derive(Debug)]
pub(crate) struct Table {
    ranks: usize,
    /// The number of arrays so far.
    used: u64,
    arrays: HashMap<ArrayId, Copies>,
}

#[derive(Debug)]
struct Copies {
    number: u64,
    owner: usize,
    version: u64,
    /// For each rank, whether it has this version.
    are_valid: Vec<bool>,
}

/// A copy that a rank lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) from: usize,
    pub(crate) tag: Tag,
}

impl Table {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { ranks, used: 0, arrays: HashMap::new() }
    }

    fn of(&mut self, array: ArrayId) -> &mut Copies {
        let Self { ranks, used, arrays } = self;
        arrays.entry(array).or_insert_with(|| {
            let number = *used;
            *used += 1;
            let owner = (number % *ranks as u64) as usize;
            Copies { number, owner, version: 0, are_valid: vec![true; *ranks] }
        })
    }

    /// The number of the array, in the order of first use, which is the same on all ranks.
    pub(crate) fn number(&mut self, array: ArrayId) -> u64 {
        self.of(array).number
    }

    pub(crate) fn owner(&mut self, array: ArrayId) -> usize {
        self.of(array).owner
    }

    pub(crate) fn set_owner(&mut self, array: ArrayId, rank: usize) {
        self.of(array).owner = rank;
    }

    /// Gives rank `rank` a copy; returns what it lacks.
    pub(crate) fn copy_to(&mut self, array: ArrayId, rank: usize) -> Option<Missing> {
        let copies = self.of(array);
        if copies.are_valid[rank] {
            return None;
        }
        copies.are_valid[rank] = true;
        // The lowest rank that had it before.
        let from = (0..copies.are_valid.len()).find(|&from| from != rank && copies.are_valid[from]);
        let from = from.expect("some rank has the value");
        Some(Missing { from, tag: Tag::Value { array: copies.number, version: copies.version } })
    }

    /// A task on rank `rank` writes it: only that rank has the value.
    pub(crate) fn written_on(&mut self, array: ArrayId, rank: usize) {
        let copies = self.of(array);
        copies.version += 1;
        copies.are_valid.fill(false);
        copies.are_valid[rank] = true;
    }

    /// All ranks make the same change.
    pub(crate) fn written_everywhere(&mut self, array: ArrayId) {
        let copies = self.of(array);
        copies.version += 1;
        copies.are_valid.fill(true);
    }

    /// The array is no more.
    pub(crate) fn forget(&mut self, array: ArrayId) {
        self.arrays.remove(&array);
    }
}

#[cfg(test)]
mod tests {
    use super::{Missing, Table};
    use crate::array_id::ArrayId;
    use crate::ranks::Tag;

    #[test]
    fn a_copy_is_sent_once_for_each_version() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        assert_eq!(table.copy_to(x, 2), None, "what was created is everywhere");
        table.written_on(x, 1);
        let missing = |version| Some(Missing { from: 1, tag: Tag::Value { array: 0, version } });
        assert_eq!(table.copy_to(x, 2), missing(1));
        assert_eq!(table.copy_to(x, 2), None);
        table.written_on(x, 1);
        assert_eq!(table.copy_to(x, 2), missing(2));
    }
}
