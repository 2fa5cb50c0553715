//! [`KeyValueCache`]: the keys and values of text that grows.

use dahl::ops;
use dahl::prelude::*;

use super::MultiHeadAttention;

/// The keys and values of the tokens so far, for text that is written token by token.
#[derive(Debug)]
pub struct KeyValueCache<T: Real> {
    /// `[batch, key heads, capacity, width]`.
    pub(super) keys: Array<'static, T, 4>,
    pub(super) values: Array<'static, T, 4>,
    pub(super) len: usize,
}

impl<T: Real> KeyValueCache<T> {
    /// An empty cache for `capacity` tokens of each of `batch` sequences, for one layer.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn new(
        rt: &Runtime,
        layer: &MultiHeadAttention<'_, T>,
        batch: usize,
        capacity: usize,
    ) -> dahl::Result<Self> {
        let shape = [batch, layer.key_heads(), capacity, layer.head_width()];
        Ok(Self { keys: rt.zeros(shape)?, values: rt.zeros(shape)?, len: 0 })
    }

    /// The tokens of each sequence in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no tokens.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The most tokens of a sequence.
    pub fn capacity(&self) -> usize {
        self.keys.shape()[2]
    }

    /// Forgets the tokens from number `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Adds the keys and values of further tokens.
    #[track_caller]
    pub(super) fn push(&mut self, key: &Array<'_, T, 4>, value: &Array<'_, T, 4>) -> dahl::Result<()> {
        let (tokens, capacity) = (key.shape()[2], self.capacity());
        if tokens > capacity - self.len {
            let fact = format!("{tokens} more tokens after {} are more than its {capacity}", self.len);
            return Err(dahl::Error::invalid_shape("KeyValueCache", fact));
        }
        let lengths = [self.len, tokens, capacity - self.len - tokens];
        for (array, new) in [(&mut self.keys, key), (&mut self.values, value)] {
            let mut parts = array.partition_mut_by(Axis(2), &lengths)?;
            if let Some(part) = parts.get_mut(1) {
                ops::copy(new, part)?;
            }
        }
        self.len += tokens;
        Ok(())
    }
}
