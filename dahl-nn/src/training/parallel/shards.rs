//! [`Shards`]: which rank computes which shard of a batch, and the tree by which shards are added.

use std::ops::Range;

/// The shards of a batch. What is added in which order depends on their number, not on that of the ranks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shards {
    /// As many as a whole batch has.
    pub(crate) count: usize,
    pub(crate) ranks: usize,
}

impl Shards {
    /// The rank that computes a shard.
    pub(crate) fn rank_of(&self, shard: usize) -> usize {
        shard * self.ranks / self.count
    }

    /// The rank that adds the two halves of these shards, for bucket number `bucket`, whose sum is needed on `owner`: that one if
    /// it has one of the shards, else another that has, in turn.
    pub(crate) fn rank_of_sum(&self, shards: &Range<usize>, bucket: usize, owner: usize) -> usize {
        if shards.clone().any(|shard| self.rank_of(shard) == owner) {
            return owner;
        }
        self.rank_of(shards.start + bucket % shards.len())
    }
}

/// The two halves of several shards, whose sums are added: the first one has a power of two.
pub(crate) fn halves(shards: &Range<usize>) -> (Range<usize>, Range<usize>) {
    let middle = shards.start + shards.len().next_power_of_two() / 2;
    (shards.start..middle, middle..shards.end)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{Shards, halves};

    fn tree(shards: Range<usize>) -> String {
        if shards.len() == 1 {
            return shards.start.to_string();
        }
        let (first, second) = halves(&shards);
        format!("({}+{})", tree(first), tree(second))
    }

    #[test]
    fn neighbours_are_added_first() {
        assert_eq!(tree(0..1), "0");
        assert_eq!(tree(0..2), "(0+1)");
        assert_eq!(tree(0..4), "((0+1)+(2+3))");
        assert_eq!(tree(0..7), "(((0+1)+(2+3))+((4+5)+6))");
    }

    #[test]
    fn shards_are_in_blocks_on_all_ranks() {
        let ranks = |count, ranks| {
            let shards = Shards { count, ranks };
            (0..count).map(|shard| shards.rank_of(shard)).collect::<Vec<_>>()
        };
        assert_eq!(ranks(4, 1), [0, 0, 0, 0]);
        assert_eq!(ranks(4, 2), [0, 0, 1, 1]);
        assert_eq!(ranks(4, 3), [0, 0, 1, 2]);
        assert_eq!(ranks(2, 4), [0, 2]);
    }

    #[test]
    fn a_sum_is_made_where_a_shard_is() {
        let shards = Shards { count: 8, ranks: 4 };
        assert_eq!(shards.rank_of_sum(&(0..8), 0, 2), 2, "its owner");
        assert_eq!(shards.rank_of_sum(&(0..4), 0, 2), 0);
        assert_eq!(shards.rank_of_sum(&(0..4), 3, 2), 1, "another bucket");
    }
}
