//! [`Table`]: which ranks have a copy of which array.

use std::collections::{HashMap, HashSet};

use super::copies::{Copies, Missing, Piece};
use crate::array_id::ArrayId;
use crate::shape::Layout;

/// The copies of all arrays in use. It is the same on all ranks at the same place of the program.
#[derive(Debug)]
pub(crate) struct Table {
    ranks: usize,
    /// The number of arrays so far.
    used: u64,
    arrays: HashMap<ArrayId, Copies>,
}

impl Table {
    pub(crate) fn new(ranks: usize) -> Self {
        Self { ranks, used: 0, arrays: HashMap::new() }
    }

    /// The arrays in use, with parts.
    pub(crate) fn len(&self) -> usize {
        self.arrays.len()
    }

    fn of(&mut self, array: ArrayId) -> &mut Copies {
        let Self { ranks, used, arrays } = self;
        arrays.entry(array).or_insert_with(|| {
            let number = *used;
            *used += 1;
            Copies::new(number, (number % *ranks as u64) as usize, vec![true; *ranks])
        })
    }

    /// The number of the array, in the order of first use, which is the same on all ranks.
    pub(crate) fn number(&mut self, array: ArrayId) -> u64 {
        self.of(array).number()
    }

    pub(crate) fn owner(&mut self, array: ArrayId) -> usize {
        self.of(array).owner
    }

    pub(crate) fn set_owner(&mut self, array: ArrayId, rank: usize) {
        self.of(array).owner = rank;
    }

    /// Sets whether other ranks than the owner have the array for single tasks only. The host has no view of it.
    pub(crate) fn set_sharded(&mut self, array: ArrayId, is_sharded: bool) {
        let copies = self.of(array);
        (copies.is_sharded, copies.may_be_viewed) = (is_sharded, false);
    }

    /// The host gets a view of the array, on every rank. All keep their copies until it is written.
    pub(crate) fn viewed(&mut self, array: ArrayId) {
        self.of(array).may_be_viewed = true;
    }

    /// Drops the copy of rank `rank`, if the array is sharded, another rank owns it, and the host has no view. Returns whether it did.
    pub(crate) fn drop_on(&mut self, array: ArrayId, rank: usize) -> bool {
        self.of(array).drop_on(rank)
    }

    /// Whether the copy of rank `rank` has no value once rank `writer` writes the array, which is sharded.
    pub(crate) fn loses(&mut self, array: ArrayId, rank: usize, writer: usize) -> bool {
        rank != writer && self.of(array).is_shard_on(rank)
    }

    /// Gives rank `rank` a copy; returns what it lacks.
    pub(crate) fn copy_to(&mut self, array: ArrayId, rank: usize) -> Vec<Missing> {
        let mut missing = Vec::new();
        self.of(array).copy_to(rank, None, &mut missing);
        missing
    }

    /// A task on rank `rank` writes it: only that rank has the value.
    pub(crate) fn written_on(&mut self, array: ArrayId, rank: usize) {
        self.of(array).written(|has| has == rank);
    }

    /// All ranks make the same change.
    pub(crate) fn written_everywhere(&mut self, array: ArrayId) {
        self.of(array).written(|_| true);
    }

    /// What has to be sent before a partition of `whole` into these parts: to its owner, what that lacks, if the array is
    /// in other pieces; to every rank, if the parts are only read.
    pub(crate) fn before_split(
        &mut self,
        whole: ArrayId,
        parts: &[Layout],
        is_shared: bool,
    ) -> Vec<(usize, Missing)> {
        let ranks = self.ranks;
        let copies = self.of(whole);
        let (from, to) = match () {
            () if is_shared => (0, ranks),
            () if copies.is_in(parts) => (0, 0),
            () => (copies.owner, copies.owner + 1),
        };
        let mut messages = Vec::new();
        for rank in from..to {
            let mut missing = Vec::new();
            copies.copy_to(rank, None, &mut missing);
            messages.extend(missing.into_iter().map(|missing| (rank, missing)));
        }
        messages
    }

    /// A partition of `whole` begins. The pieces that it was in before, if they are the same, continue as parts. Other
    /// parts get owners in turn.
    pub(crate) fn split(
        &mut self,
        whole: ArrayId,
        parts: impl Iterator<Item = (ArrayId, Layout)>,
        is_shared: bool,
    ) {
        let (parts, layouts): (Vec<_>, Vec<_>) = parts.unzip();
        let ranks = self.ranks;
        let copies = self.of(whole);
        let pieces = if is_shared { Vec::new() } else { copies.take_pieces(&layouts) };
        let (owner, are_valid) = (copies.owner, copies.valid());
        copies.parts.extend(&parts);
        // The host may view parts that are only read, for as long as it may view the whole.
        copies.may_be_viewed |= is_shared;
        let mut pieces = pieces.into_iter();
        for (index, part) in parts.into_iter().enumerate() {
            let copies = pieces.next().map(|piece| piece.copies).unwrap_or_else(|| {
                self.used += 1;
                Copies::new(self.used - 1, (owner + index) % ranks, are_valid.clone())
            });
            self.arrays.insert(part, copies);
        }
    }

    /// The partition of `whole` ends. It is in pieces then, unless they were only read.
    pub(crate) fn join(
        &mut self,
        whole: ArrayId,
        parts: impl Iterator<Item = (ArrayId, Layout)>,
        is_shared: bool,
    ) {
        let mut ended = HashSet::new();
        let mut take = |(part, layout)| {
            ended.insert(part);
            Some(Piece { layout, copies: self.arrays.remove(&part)? })
        };
        let pieces: Vec<Piece> = parts.filter_map(&mut take).collect();
        if let Some(copies) = self.arrays.get_mut(&whole) {
            copies.parts.retain(|part| !ended.contains(part));
            if !is_shared {
                copies.join(pieces);
            }
        }
    }

    /// The array is no more.
    pub(crate) fn forget(&mut self, array: ArrayId) {
        if let Some(copies) = self.arrays.remove(&array) {
            copies.parts.into_iter().for_each(|part| self.forget(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Missing, Table};
    use crate::array_id::ArrayId;
    use crate::ranks::Tag;
    use crate::shape::Layout;

    fn missing(from: usize, array: u64, version: u64) -> Missing {
        Missing { from, tag: Tag::Value { array, version }, region: None }
    }

    fn layouts(parts: usize) -> Vec<Layout> {
        let mut whole = Layout::EMPTY;
        whole.set_contiguous(&[12]);
        (0..parts).map(|part| whole.part(0, part * 12 / parts, 12 / parts)).collect()
    }

    fn parts(first: u64, count: usize) -> impl Iterator<Item = (ArrayId, Layout)> {
        (first..).map(ArrayId::new).zip(layouts(count))
    }

    /// The senders and the regions' starts.
    fn senders(messages: &[Missing]) -> Vec<(usize, usize)> {
        messages
            .iter()
            .map(|missing| (missing.from, missing.region.map_or(99, |region| region.offset)))
            .collect()
    }

    #[test]
    fn a_copy_is_sent_once_for_each_version() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        assert_eq!(table.copy_to(x, 2), [], "what was created is everywhere");
        table.written_on(x, 1);
        assert_eq!(table.copy_to(x, 2), [missing(1, 0, 1)]);
        assert_eq!(table.copy_to(x, 2), []);
        table.written_on(x, 1);
        assert_eq!(table.copy_to(x, 2), [missing(1, 0, 2)]);
    }

    #[test]
    fn a_copy_of_a_sharded_array_is_sent_for_each_use() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        table.written_on(x, 0);
        assert!(!table.drop_on(x, 1), "it is not sharded");
        table.set_sharded(x, true);
        assert_eq!(table.copy_to(x, 1), [missing(0, 0, 1)]);
        assert!(!table.drop_on(x, 0), "its owner keeps it");
        assert!(table.drop_on(x, 1) && !table.drop_on(x, 1), "once");
        assert_eq!(table.copy_to(x, 1), [missing(0, 0, 2)], "with another tag");
        table.written_on(x, 1);
        assert!(!table.drop_on(x, 1), "no other rank has it");
        table.set_sharded(x, false);
        assert_eq!(table.copy_to(x, 2), [missing(1, 0, 3)]);
        assert!(!table.drop_on(x, 2));
    }

    #[test]
    fn a_copy_that_the_host_may_view_stays_until_the_array_is_written() {
        let (mut table, x) = (Table::new(2), ArrayId::new(7));
        table.set_sharded(x, true);
        table.set_owner(x, 0);
        table.viewed(x);
        assert!(!table.drop_on(x, 1), "a guard may be there");
        assert!(table.loses(x, 1, 0) && !table.loses(x, 0, 0), "a write ends all guards");
        table.written_on(x, 0);
        assert!(!table.loses(x, 1, 0), "it has none");
        assert_eq!(table.copy_to(x, 1).len(), 1);
        assert!(table.drop_on(x, 1));
        // Parts that are only read.
        table.split(x, parts(10, 2), true);
        table.join(x, parts(10, 2), true);
        assert_eq!(table.copy_to(x, 1).len(), 1);
        assert!(!table.drop_on(x, 1), "a part may be viewed");
        table.written_everywhere(x);
        assert!(table.drop_on(x, 1));
    }

    #[test]
    fn an_array_stays_in_pieces_until_it_is_written() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        table.written_on(x, 1);
        assert_eq!(table.before_split(x, &layouts(3), false), [], "each part is where the array is");
        table.split(x, parts(10, 3), false);
        let owners = [10, 11, 12].map(|part| table.owner(ArrayId::new(part)));
        assert_eq!(owners, [0, 1, 2]);
        (0..3).for_each(|part| table.written_on(ArrayId::new(10 + part), part as usize));
        table.join(x, parts(10, 3), false);
        assert_eq!(senders(&table.copy_to(x, 1)), [(0, 0), (2, 8)], "it lacks two pieces");
        assert_eq!(table.copy_to(x, 1), []);
        // The same partition again: nothing is sent, also if the parts are other states.
        assert_eq!(table.before_split(x, &layouts(3), false), []);
        table.split(x, parts(20, 3), false);
        assert_eq!(table.owner(ArrayId::new(22)), 2);
        assert_eq!(table.copy_to(ArrayId::new(22), 1), []);
        assert_eq!(table.copy_to(ArrayId::new(22), 0), [missing(1, 3, 1)], "a rank that has it");
        table.join(x, parts(20, 3), false);
        table.written_on(x, 2);
        assert_eq!(table.copy_to(x, 0), [missing(2, 0, 4)]);
    }

    #[test]
    fn pieces_of_one_rank_are_sent_as_one() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        table.split(x, parts(10, 3), false);
        (0..3).for_each(|part| table.written_on(ArrayId::new(10 + part), 2));
        table.join(x, parts(10, 3), false);
        assert_eq!(table.copy_to(x, 0), [missing(2, 0, 1)]);
        assert_eq!(table.copy_to(x, 0), []);
        // The parts are there too, and keep their owners.
        table.split(x, parts(10, 3), false);
        assert_eq!(table.copy_to(ArrayId::new(11), 0), []);
        assert_eq!(table.owner(ArrayId::new(11)), 1);
        table.written_on(ArrayId::new(11), 1);
        table.join(x, parts(10, 3), false);
        assert_eq!(senders(&table.copy_to(x, 0)), [(1, 4)], "it lacks one piece");
    }

    #[test]
    fn another_partition_collects_the_pieces_first() {
        let (mut table, x) = (Table::new(2), ArrayId::new(7));
        table.split(x, parts(10, 3), false);
        table.written_on(ArrayId::new(10), 0);
        table.written_on(ArrayId::new(11), 1);
        table.join(x, parts(10, 3), false);
        let messages = table.before_split(x, &layouts(2), false);
        let (to, missing): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        assert_eq!((to, senders(&missing)), (vec![0], vec![(1, 4)]));
        table.split(x, parts(20, 2), false);
        assert_eq!(senders(&table.copy_to(ArrayId::new(20), 1)), [(0, 99)], "only rank 0 has all of it");
    }

    #[test]
    fn what_all_ranks_get_is_sent_along_a_tree() {
        let (mut table, x) = (Table::new(7), ArrayId::new(7));
        let mut senders = |first: usize| -> Vec<usize> {
            table.written_on(x, first);
            let copies = (0..7).flat_map(|rank| table.copy_to(x, rank));
            copies.map(|missing| missing.from).collect()
        };
        assert_eq!(senders(0), [0, 0, 1, 1, 2, 2]);
        assert_eq!(senders(6), [6, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn parts_that_are_read_are_everywhere() {
        let (mut table, x) = (Table::new(3), ArrayId::new(7));
        table.written_on(x, 2);
        let messages = table.before_split(x, &layouts(2), true);
        assert_eq!(messages, [(0, missing(2, 0, 1)), (1, missing(0, 0, 1))]);
        table.split(x, parts(10, 2), true);
        assert_eq!(table.copy_to(ArrayId::new(10), 1), []);
        table.join(x, parts(10, 2), true);
        assert_eq!(table.copy_to(x, 1), []);
        table.forget(x);
    }
}
