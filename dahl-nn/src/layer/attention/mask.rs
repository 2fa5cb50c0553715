//! [`AttentionMask`]: what hides keys from queries.

use dahl::ops;
use dahl::prelude::*;

use crate::step::Step;

/// Which keys a query sees: those that every part of the mask lets it see. By default it sees all. A query that sees no key
/// gets zeros.
///
/// Elements that are not 0 say that a key is seen, as with [`dahl::ops::attention_masked`]. PyTorch's masks of booleans say
/// the opposite.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let attention = MultiHeadAttention::<f32>::new(&mut Init::new(&arena, 1), 8, 2)?;
/// let x = rt.from_vec([2, 3, 8], (0..48).map(|i| (i as f32).sin()).collect())?;
/// // The second sequence has two tokens, and one that fills it up.
/// let keys = rt.from_vec([2, 3], vec![1, 1, 1, 1, 1, 0])?;
/// let step = Step::evaluating(&rt);
/// let out = attention.forward_masked(&step, &x, AttentionMask::default().causal().keys(&keys))?;
/// assert_eq!(out.shape(), [2, 3, 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AttentionMask<'a> {
    is_causal: bool,
    pairs: Option<&'a Array<'a, u8, 3>>,
    keys: Option<&'a Matrix<'a, u8>>,
}

impl<'a> AttentionMask<'a> {
    /// Hides later tokens from each token. With more keys than queries, the last query sees all keys.
    pub fn causal(mut self) -> Self {
        self.is_causal = true;
        self
    }

    /// The keys that each query sees: `[batch, tokens, keys]`, or `[1, tokens, keys]` for all samples; PyTorch's
    /// `attn_mask`.
    pub fn queries(mut self, mask: &'a Array<'_, u8, 3>) -> Self {
        self.pairs = Some(mask);
        self
    }

    /// The keys of each sample that are seen, `[batch, keys]`: without those that fill up short sequences; PyTorch's
    /// `key_padding_mask`.
    pub fn keys(mut self, mask: &'a Matrix<'_, u8>) -> Self {
        self.keys = Some(mask);
        self
    }

    pub(super) fn is_causal(&self) -> bool {
        self.is_causal
    }

    #[allow(clippy::type_complexity, reason = "the two parts of the mask")]
    pub(super) fn pairs(&self) -> (Option<&'a Array<'a, u8, 3>>, Option<&'a Matrix<'a, u8>>) {
        (self.pairs, self.keys)
    }
}

/// The keys that each query sees by both parts, `[batch or 1, tokens, keys]`.
///
/// # Errors
/// If the parts are of other shapes.
#[track_caller]
pub(super) fn combined<'s>(
    step: &'s Step<'_>,
    pairs: Option<&Array<'_, u8, 3>>,
    keys: &Matrix<'_, u8>,
    tokens: usize,
) -> dahl::Result<Array<'s, u8, 3>> {
    let [batch, count] = keys.shape();
    let keys = keys.reshaped([batch, 1, count])?;
    match pairs {
        None => ops::tile_init(step.detached(), &*keys, 1, tokens),
        Some(pairs) => ops::logical_and_init(step.detached(), pairs, &*keys),
    }
}

/// The keys up to each query, `[1, tokens, keys]`; the last query sees all.
///
/// # Errors
/// If memory cannot be allocated.
#[track_caller]
pub(super) fn earlier<'s>(step: &'s Step<'_>, [tokens, keys]: [usize; 2]) -> dahl::Result<Array<'s, u8, 3>> {
    let sees = |token: usize, key: usize| key + tokens < token + 1 + keys;
    let mask: Vec<u8> =
        (0..tokens).flat_map(|token| (0..keys).map(move |key| u8::from(sees(token, key)))).collect();
    step.detached().from_slice([1, tokens, keys], &mask)
}
