//! [`Head`], the extents of attention, and [`Block`], some of its queries with some of its keys.

use dahl_core::Real;

/// Queries of a block.
pub(super) const QUERIES: usize = 64;
/// Keys of a block: the scores of a block fill 32 or 64 KiB.
pub(super) const KEYS: usize = 128;

/// The extents of a head, and how its scores are computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The number of queries.
    pub(crate) tokens: usize,
    /// The number of keys.
    pub(crate) keys: usize,
    /// The elements of a query and of a key.
    pub(crate) width: usize,
    /// The elements of a value.
    pub(crate) value_width: usize,
    /// The factor of scores.
    pub(crate) scale: f64,
    /// Whether a query sees only some of the keys, [`visible`](Self::visible).
    pub(crate) is_causal: bool,
}

impl Head {
    /// How many keys the query sees, from the first on: the last query sees all.
    #[inline(always)]
    pub(super) fn visible(&self, query: usize) -> usize {
        if self.is_causal { (query + 1 + self.keys).saturating_sub(self.tokens) } else { self.keys }
    }

    /// The queries in blocks: their number before the block, and in it.
    pub(super) fn query_blocks(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let tokens = self.tokens;
        (0..tokens).step_by(QUERIES).map(move |first| [first, QUERIES.min(tokens - first)])
    }

    /// The keys up to `end` in blocks: their number before the block, and in it.
    pub(super) fn key_blocks(&self, end: usize) -> impl Iterator<Item = [usize; 2]> + use<> {
        (0..end).step_by(KEYS).map(move |first| [first, KEYS.min(end - first)])
    }
}

/// A block of queries with a block of keys.
#[derive(Clone, Copy)]
pub(super) struct Block<'a> {
    pub(super) head: Head,
    /// For each query and key of the head, 0 where the query does not see the key.
    pub(super) mask: Option<&'a [u8]>,
    /// The first query, and how many there are.
    pub(super) queries: [usize; 2],
    /// The first key, and how many there are.
    pub(super) keys: [usize; 2],
}

impl Block<'_> {
    /// Without the keys after the last that a query sees.
    pub(super) fn trimmed(self) -> Self {
        let [first, count] = self.queries;
        let seen = self.head.visible(first + count - 1).saturating_sub(self.keys[0]).min(self.keys[1]);
        Self { keys: [self.keys[0], seen], ..self }
    }

    /// Whether no query sees a key.
    pub(super) fn is_hidden(&self) -> bool {
        let [first, count] = self.queries;
        self.head.visible(first + count - 1) <= self.keys[0]
            || (0..count).all(|row| self.mask_of(row).is_some_and(|mask| mask.iter().all(|&seen| seen == 0)))
    }

    /// Whether there are a query and a key that it does not see.
    pub(super) fn hides_any(&self) -> bool {
        let ([first, count], [first_key, keys]) = (self.queries, self.keys);
        self.head.visible(first) < first_key + keys
            || (0..count).any(|row| self.mask_of(row).is_some_and(|mask| mask.contains(&0)))
    }

    /// Whether a query of the block sees a key of the block.
    pub(super) fn sees(&self, row: usize, key: usize) -> bool {
        self.keys[0] + key < self.head.visible(self.queries[0] + row)
            && self.mask_of(row).is_none_or(|mask| mask[key] != 0)
    }

    /// The mask of a query of the block.
    #[inline(always)]
    pub(super) fn mask_of(&self, row: usize) -> Option<&[u8]> {
        let first = (self.queries[0] + row) * self.head.keys + self.keys[0];
        Some(&self.mask?[first..][..self.keys[1]])
    }

    /// The scores of the keys up to the last that a query sees, and the rest. Those that are masked become minus infinity.
    #[inline(always)]
    pub(super) fn split<'s, C: Real>(&self, row: usize, scores: &'s mut [C]) -> (&'s mut [C], &'s mut [C]) {
        let [first_key, count] = self.keys;
        let visible = self.head.visible(self.queries[0] + row).saturating_sub(first_key).min(count);
        let (scores, hidden) = scores.split_at_mut(visible);
        if let Some(mask) = self.mask_of(row) {
            for (score, &seen) in scores.iter_mut().zip(mask) {
                *score = if seen != 0 { *score } else { C::NEG_INFINITY };
            }
        }
        (scores, hidden)
    }
}

/// The rows `[first, first + count)` of a matrix of `width` columns.
pub(super) fn rows<T>(matrix: &[T], [first, count]: [usize; 2], width: usize) -> &[T] {
    &matrix[first * width..][..count * width]
}

/// As [`rows`].
pub(super) fn rows_mut<T>(matrix: &mut [T], [first, count]: [usize; 2], width: usize) -> &mut [T] {
    &mut matrix[first * width..][..count * width]
}
