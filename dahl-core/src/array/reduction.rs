//! [`Tree`]: the private buffers of a reduction, folded in an order that depends on nothing but the submissions.
//!
//! Contributions are numbered as they are submitted. [`LEAF`] consecutive ones share a leaf, one after the other. Full
//! leaves fold like a binary counter: two partial results of `2^k` leaves make one of `2^(k+1)`, the earlier one on the
//! left. When the next other access closes the tree, the partial results fold from the latest to the earliest, and the
//! array's old value enters last. The order, and so every bit of the result, is the same for any number of workers.

use std::sync::Arc;

use crate::codelet::Accumulator;
use crate::memory::{Block, Holder, MemoryNode};

/// Consecutive contributions that share a private buffer.
const LEAF: usize = 4;

/// The open reduction of an array.
#[derive(Debug)]
pub(crate) struct Tree {
    accumulator: Accumulator,
    /// Elements of a buffer.
    len: usize,
    /// Whether the array's value from before enters.
    keep_old: bool,
    /// The leaf that contributions go to now, and how many it has.
    leaf: Option<Block>,
    contributions: usize,
    /// Partial results of `2^level` leaves.
    levels: Vec<Option<Block>>,
    free: Vec<Block>,
}

impl Tree {
    pub(super) fn new(accumulator: Accumulator, len: usize, keep_old: bool) -> Self {
        Self {
            accumulator,
            len,
            keep_old,
            leaf: None,
            contributions: 0,
            levels: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Begins anew, with the buffers of the last time.
    pub(super) fn open(&mut self, keep_old: bool) {
        debug_assert!(self.leaf.is_none());
        self.keep_old = keep_old;
    }

    pub(super) fn accumulates_like(&self, accumulator: &Accumulator) -> bool {
        self.accumulator.is_like(accumulator)
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        self.len * self.accumulator.element.size_bytes
    }

    /// The buffer for the next contribution; nothing if it cannot be had.
    pub(super) fn next_contribution(&mut self, node: &Arc<MemoryNode>, holder: Holder) -> Option<*mut u8> {
        if self.contributions == LEAF {
            self.carry();
        }
        if self.leaf.is_none() {
            let mut leaf = match self.free.pop() {
                Some(block) => block,
                None => Block::zeroed(node, self.buffer_bytes(), holder)?,
            };
            (self.accumulator.identity)(leaf.first_bytes_mut(self.buffer_bytes()));
            self.leaf = Some(leaf);
            self.contributions = 0;
        }
        self.contributions += 1;
        self.leaf.as_ref().map(Block::pointer)
    }

    /// Adds the full leaf to the partial results, as one is added to a binary counter.
    fn carry(&mut self) {
        let Some(mut sum) = self.leaf.take() else { return };
        let bytes = self.buffer_bytes();
        for level in &mut self.levels {
            match level.take() {
                None => {
                    *level = Some(sum);
                    return;
                }
                Some(mut earlier) => {
                    (self.accumulator.combine)(earlier.first_bytes_mut(bytes), sum.first_bytes_mut(bytes));
                    self.free.push(std::mem::replace(&mut sum, earlier));
                }
            }
        }
        self.levels.push(Some(sum));
    }

    /// Folds everything into `target`.
    pub(super) fn close(&mut self, target: &mut [u8]) {
        let bytes = self.buffer_bytes();
        let mut total = self.leaf.take();
        for level in &mut self.levels {
            total = match (level.take(), total) {
                (Some(mut earlier), Some(mut later)) => {
                    (self.accumulator.combine)(earlier.first_bytes_mut(bytes), later.first_bytes_mut(bytes));
                    self.free.push(later);
                    Some(earlier)
                }
                (earlier, later) => earlier.or(later),
            };
        }
        if let Some(mut total) = total {
            (self.accumulator.finish)(target, total.first_bytes_mut(bytes), self.keep_old);
            self.free.push(total);
        }
    }

    /// Forgets every contribution.
    pub(super) fn discard(&mut self) {
        self.free.extend(self.leaf.take());
        self.free.extend(self.levels.iter_mut().filter_map(Option::take));
    }
}
