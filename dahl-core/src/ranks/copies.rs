//! [`Copies`]: which ranks have the value of one array, or of each of its pieces.

use super::transport::Tag;
use crate::array_id::ArrayId;
use crate::shape::Layout;

/// The copies of an array.
#[derive(Debug)]
pub(super) struct Copies {
    number: u64,
    pub(super) owner: usize,
    version: u64,
    /// For each rank, whether it has this version. Not in use while the array is in pieces.
    are_valid: Vec<bool>,
    /// The pieces that the last partition left, until the array is written.
    pieces: Vec<Piece>,
    /// The parts of the partition that is open.
    pub(super) parts: Vec<ArrayId>,
    /// Whether other ranks than the owner have it for single tasks only.
    pub(super) is_sharded: bool,
    /// Whether the host may have a view of a copy, which lasts until the array is written at the latest.
    pub(super) may_be_viewed: bool,
}

/// A piece of an array: what was a part of it.
#[derive(Debug)]
pub(super) struct Piece {
    /// Where its elements are in the array's memory.
    pub(super) layout: Layout,
    pub(super) copies: Copies,
}

/// A copy that a rank lacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing {
    pub(crate) from: usize,
    pub(crate) tag: Tag,
    /// The elements in the array's memory, if not all.
    pub(crate) region: Option<Layout>,
}

impl Copies {
    pub(super) fn new(number: u64, owner: usize, are_valid: Vec<bool>) -> Self {
        let (pieces, parts) = (Vec::new(), Vec::new());
        let (is_sharded, may_be_viewed) = (false, false);
        Self { number, owner, version: 0, are_valid, pieces, parts, is_sharded, may_be_viewed }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// For each rank, whether it has all of the value.
    pub(super) fn valid(&self) -> Vec<bool> {
        if self.pieces.is_empty() {
            return self.are_valid.clone();
        }
        let of_pieces: Vec<_> = self.pieces.iter().map(|piece| piece.copies.valid()).collect();
        (0..self.are_valid.len()).map(|rank| of_pieces.iter().all(|valid| valid[rank])).collect()
    }

    /// Gives rank `rank` a copy, and says what it lacks.
    pub(super) fn copy_to(&mut self, rank: usize, region: Option<Layout>, missing: &mut Vec<Missing>) {
        if !self.pieces.is_empty() {
            let Some(valid) = self.valid_as_one().map(<[bool]>::to_vec) else {
                for Piece { layout, copies } in &mut self.pieces {
                    copies.copy_to(rank, Some(*layout), missing);
                }
                return;
            };
            // The same ranks have all pieces: one message.
            self.are_valid = valid;
            self.pieces.iter_mut().for_each(|piece| piece.copies.has(rank));
        }
        if self.are_valid[rank] {
            return;
        }
        // If all ranks get it, in order, they form a binary tree: no rank sends it to many.
        let valid = || (0..self.are_valid.len()).filter(|&rank| self.are_valid[rank]);
        let from = valid().nth((valid().count().max(1) - 1) / 2).expect("some rank has the value");
        self.are_valid[rank] = true;
        missing.push(Missing { from, tag: Tag::Value { array: self.number, version: self.version }, region });
    }

    /// For each rank, whether it has the value, if the same ranks have each piece. None if they differ.
    fn valid_as_one(&self) -> Option<&[bool]> {
        let mut pieces = self.pieces.iter().map(|piece| piece.copies.valid_as_one());
        let Some(first) = pieces.next() else { return Some(&self.are_valid) };
        let first = first?;
        pieces.all(|piece| piece == Some(first)).then_some(first)
    }

    /// Rank `rank` has received all of it.
    fn has(&mut self, rank: usize) {
        self.are_valid[rank] = true;
        self.pieces.iter_mut().for_each(|piece| piece.copies.has(rank));
    }

    /// Whether rank `rank` has all of it, in one piece, as a sharded array.
    pub(super) fn is_shard_on(&self, rank: usize) -> bool {
        self.is_sharded && self.pieces.is_empty() && self.parts.is_empty() && self.are_valid[rank]
    }

    /// Drops the copy of rank `rank`, if the array is sharded, another rank, its owner, has it, and the host has no view of it.
    /// Returns whether it did. The version is another one then: the rank may receive the value again.
    pub(super) fn drop_on(&mut self, rank: usize) -> bool {
        let is_elsewhere = self.owner != rank && self.are_valid[self.owner];
        let is_dropped = self.is_shard_on(rank) && is_elsewhere && !self.may_be_viewed;
        if is_dropped {
            self.version += 1;
            self.are_valid[rank] = false;
        }
        is_dropped
    }

    /// It is written, on some ranks.
    pub(super) fn written(&mut self, on: impl Fn(usize) -> bool) {
        self.version += 1;
        self.may_be_viewed = false;
        self.pieces.clear();
        self.are_valid.iter_mut().enumerate().for_each(|(rank, is_valid)| *is_valid = on(rank));
    }

    /// Whether it is in one piece, or in exactly these.
    pub(super) fn is_in(&self, layouts: &[Layout]) -> bool {
        let pieces = self.pieces.iter().map(|piece| &piece.layout);
        let is_same =
            self.pieces.len() == layouts.len() && pieces.zip(layouts).all(|(own, other)| own.is_same(other));
        is_same || self.pieces.is_empty()
    }

    /// The pieces, if they are exactly these. It is in one piece from now on, on the ranks that had all of them.
    pub(super) fn take_pieces(&mut self, layouts: &[Layout]) -> Vec<Piece> {
        let (is_same, are_valid) = (self.is_in(layouts), self.valid());
        self.are_valid = are_valid;
        let pieces = std::mem::take(&mut self.pieces);
        if is_same { pieces } else { Vec::new() }
    }

    /// The array is in pieces.
    pub(super) fn join(&mut self, pieces: Vec<Piece>) {
        self.version += 1;
        self.pieces = pieces;
    }
}

#[cfg(test)]
impl PartialEq for Missing {
    fn eq(&self, other: &Self) -> bool {
        let is_same_region = match (&self.region, &other.region) {
            (Some(own), Some(other)) => own.is_same(other),
            (own, other) => own.is_none() && other.is_none(),
        };
        self.from == other.from && self.tag == other.tag && is_same_region
    }
}
