//! [`MultiHeadAttention`]: every token looks at the others; its masks ([`AttentionMask`]), and the cache of keys and values
//! for text that grows ([`KeyValueCache`]).

mod cache;
mod dropped;
mod mask;

use dahl::ops::{self, AttentionGeometry, Heads, RotaryPositions, Transposed};
use dahl::prelude::*;

use super::{Dropout, Linear};
use crate::module::{Init, Initializer, Module, Parameter};
use crate::setting::{self, Settings};
use crate::step::Step;

pub use cache::KeyValueCache;
pub use mask::AttentionMask;

/// `softmax(query x transposed(key) / sqrt(head width)) x value` for each head, between two linear maps (Vaswani et al. 2017,
/// *Attention Is All You Need*, section 3.2). The scores are never stored: memory is linear in the tokens (Dao et al. 2022,
/// *FlashAttention*).
///
/// Names are those of PyTorch's `nn.MultiheadAttention`.
///
/// # Shapes
/// `[batch, tokens, width]` to the same; `in_proj_weight: [width + 2 * key width, width]`, where the key width is that of
/// [`key_heads`](Self::key_heads) heads, as wide as `width` usually.
#[derive(Debug, Module)]
#[module(crate = crate)]
pub struct MultiHeadAttention<'m, T: Real> {
    /// The weights of queries, keys and values, in this order.
    pub in_proj_weight: Parameter<'m, T>,
    /// The biases of queries, keys and values, if there are any.
    pub in_proj_bias: Option<Parameter<'m, T>>,
    /// The map of the joined heads.
    pub out_proj: Linear<'m, T>,
    #[module(skip)]
    heads: Heads,
    width: usize,
    causal: bool,
    /// The base of rotary positions, if any.
    rotary: Option<f64>,
    /// Of the weights of the values, if any.
    #[module(skip)]
    dropout: Option<Dropout>,
    #[module(skip)]
    settings: Settings,
}

impl<'m, T: Real> MultiHeadAttention<'m, T> {
    /// Attention of `heads` heads over tokens of `width` features: Xavier's uniform weights and biases of 0 for the first map,
    /// as in PyTorch, and no mask.
    ///
    /// # Errors
    /// If there are no heads, the width is no multiple of them, or memory cannot be allocated.
    #[track_caller]
    pub fn new(init: &mut Init<'m>, width: usize, heads: usize) -> dahl::Result<Self> {
        Self::with_key_heads(init, width, heads, heads)
    }

    /// As [`new`](Self::new), with `key_heads` heads of keys and values, each of which several heads of queries share
    /// (Ainslie et al. 2023, *GQA*).
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the heads are no multiple of the key heads.
    #[track_caller]
    pub fn with_key_heads(
        init: &mut Init<'m>,
        width: usize,
        heads: usize,
        key_heads: usize,
    ) -> dahl::Result<Self> {
        let name = "MultiHeadAttention: heads";
        setting::require(heads > 0, name, heads, "a number from 1")?;
        let value = format!("{heads} for a width of {width}");
        setting::require(width > 0 && width.is_multiple_of(heads), name, value, "a divisor of the width")?;
        let shares = key_heads > 0 && heads.is_multiple_of(key_heads);
        let value = format!("{key_heads} for {heads} heads");
        setting::require(shares, "MultiHeadAttention: key_heads", value, "a divisor of the heads")?;
        let features = width + 2 * (width / heads * key_heads);
        let in_proj_weight = init.parameter(&[features, width], Initializer::XavierUniform { gain: 1.0 })?;
        let in_proj_bias = init.parameter(&[features], Initializer::Constant(0.0))?;
        let mut out_proj = Linear::new(init, width, width)?;
        if let Some(bias) = &mut out_proj.bias {
            init.fill(bias, Initializer::Constant(0.0))?;
        }
        let heads = Heads::new(heads).shared_keys(key_heads);
        let settings = Settings::default();
        Ok(Self {
            in_proj_weight,
            in_proj_bias: Some(in_proj_bias),
            out_proj,
            heads,
            width,
            causal: false,
            rotary: None,
            dropout: None,
            settings,
        })
    }

    /// Takes the biases of both maps away, as PyTorch's `bias=False`.
    pub fn without_bias(mut self) -> Self {
        (self.in_proj_bias, self.out_proj.bias) = (None, None);
        self
    }

    /// Hides later tokens from each token.
    pub fn causal(mut self) -> Self {
        self.causal = true;
        self
    }

    /// Turns queries and keys by angles that their positions determine, with this base, usually 10,000 (Su et al. 2021,
    /// *RoFormer*). An invalid base is an error of [`forward`](Self::forward).
    #[track_caller]
    pub fn rotary(mut self, base: f64) -> Self {
        let is_base = base.is_finite() && base > 0.0;
        self.settings.require(is_base, "MultiHeadAttention: rotary", base, "a finite base above 0");
        self.rotary = Some(base);
        self
    }

    /// Sets random weights of values to 0 in training, with this probability: at least 0, below 1. The weights are then
    /// stored, so that memory is quadratic in the tokens. An invalid probability is an error of [`forward`](Self::forward).
    #[track_caller]
    pub fn dropout(mut self, probability: f64) -> Self {
        self.dropout = if probability == 0.0 { None } else { Some(Dropout::new(probability)) };
        self
    }

    /// The heads of the queries.
    pub fn heads(&self) -> usize {
        self.heads.queries
    }

    /// The heads of the keys and values.
    pub fn key_heads(&self) -> usize {
        self.heads.keys
    }

    /// The features of a head.
    fn head_width(&self) -> usize {
        self.width / self.heads.queries
    }

    /// The attention of the tokens of each sequence to those of the same sequence.
    ///
    /// # Errors
    /// If the tokens have another width, and those of the operations.
    #[track_caller]
    pub fn forward<'s>(&self, step: &'s Step<'_>, x: &Array<'_, T, 3>) -> dahl::Result<Array<'s, T, 3>> {
        self.forward_masked(step, x, AttentionMask::default())
    }

    /// As [`forward`](Self::forward), where a mask hides tokens from others.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), and if the mask is for other tokens.
    #[track_caller]
    pub fn forward_masked<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let (query, key, value) = self.project(step, x, 0)?;
        self.attend(step, &query, &key, &value, mask)
    }

    /// The attention of each sequence's queries to the tokens of another sequence, such as the one that is translated: cross
    /// attention (Vaswani et al. 2017, section 3.2.3). `key` and `value` are the tokens that keys and values are computed of,
    /// usually the same.
    ///
    /// # Shapes
    /// `query: [batch, tokens, width]`, `key` and `value: [batch, keys, width]`; the result as `query`.
    ///
    /// # Errors
    /// As [`forward_masked`](Self::forward_masked), and if the batches differ.
    #[track_caller]
    pub fn forward_cross<'s>(
        &self,
        step: &'s Step<'_>,
        query: &Array<'_, T, 3>,
        key: &Array<'_, T, 3>,
        value: &Array<'_, T, 3>,
        mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let (queries, keys) = (self.heads.queries, self.heads.keys);
        let query = self.project_heads(step, query, 0, queries)?;
        let key = self.project_heads(step, key, queries, keys)?;
        let value = self.project_heads(step, value, queries + keys, keys)?;
        let (query, key) = self.turned(step, query, key, 0)?;
        self.attend(step, &query, &key, &value, mask)
    }

    /// As [`forward`](Self::forward), for tokens that continue those of the cache: they also see these, and are added.
    /// Without gradients.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), if the step learns, the batch is not the cache's, or there are more tokens than it
    /// holds.
    #[track_caller]
    pub fn forward_cached<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        cache: &mut KeyValueCache<T>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        if step.tape().is_some() {
            let fact = "no gradient goes through a cache: use it in evaluation".to_owned();
            return Err(dahl::Error::invalid_shape("KeyValueCache", fact));
        }
        let (query, key, value) = self.project(step, x, cache.len)?;
        cache.push(&key, &value)?;
        let (arena, len) = (step.detached(), cache.len);
        let key = ops::slice_init(arena, &cache.keys, 2, 0, len)?;
        let value = ops::slice_init(arena, &cache.values, 2, 0, len)?;
        self.attend(step, &query, &key, &value, AttentionMask::default())
    }

    /// The queries, keys and values of tokens whose first has the position `first`.
    #[track_caller]
    fn project<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        first: usize,
    ) -> dahl::Result<(Array<'s, T, 4>, Array<'s, T, 4>, Array<'s, T, 4>)> {
        let [batch, tokens] = self.tokens(x)?;
        let features = self.in_proj_weight.shape[0];
        let weight = self.in_proj_weight.value.reshaped([features, self.width])?;
        let rows = x.reshaped([batch * tokens, self.width])?;
        let product = ops::matmul_transposed_init(step, &*rows, &*weight, Transposed::RIGHT)?;
        let projected = match &self.in_proj_bias {
            Some(bias) => ops::bias_init(step, &product, &bias.value, 1)?,
            None => product,
        };
        let projected = projected.reshape([batch, tokens, features])?;
        let (query, key, value) = ops::split_heads_init(step, &projected, self.heads)?;
        let (query, key) = self.turned(step, query, key, first)?;
        Ok((query, key, value))
    }

    /// The first map for `count` heads, from the head `first` on, of those of queries, keys and values.
    #[track_caller]
    fn project_heads<'s>(
        &self,
        step: &'s Step<'_>,
        x: &Array<'_, T, 3>,
        first: usize,
        count: usize,
    ) -> dahl::Result<Array<'s, T, 4>> {
        let [batch, tokens] = self.tokens(x)?;
        let (all, head) = (self.in_proj_weight.shape[0], self.head_width());
        let weight = self.in_proj_weight.value.reshaped([all, self.width])?;
        let weight = ops::slice_init(step, &*weight, 0, first * head, count * head)?;
        let rows = x.reshaped([batch * tokens, self.width])?;
        let product = ops::matmul_transposed_init(step, &*rows, &weight, Transposed::RIGHT)?;
        let projected = match &self.in_proj_bias {
            Some(bias) => {
                let bias = ops::slice_init(step, &bias.value, 0, first * head, count * head)?;
                ops::bias_init(step, &product, &bias, 1)?
            }
            None => product,
        };
        ops::permute_init(step, &projected.reshape([batch, tokens, count, head])?, [0, 2, 1, 3])
    }

    /// `[batch, tokens]`.
    ///
    /// # Errors
    /// If a setting is invalid, or the tokens have another width.
    #[track_caller]
    fn tokens(&self, x: &Array<'_, T, 3>) -> dahl::Result<[usize; 2]> {
        self.settings.check()?;
        let [batch, tokens, width] = x.shape();
        if width != self.width {
            let fact = format!("tokens have {width} features, but the layer is for {}", self.width);
            return Err(dahl::Error::invalid_shape("MultiHeadAttention", fact));
        }
        Ok([batch, tokens])
    }

    /// Queries and keys with their positions, from `first` on.
    #[track_caller]
    fn turned<'s>(
        &self,
        step: &'s Step<'_>,
        query: Array<'s, T, 4>,
        key: Array<'s, T, 4>,
        first: usize,
    ) -> dahl::Result<(Array<'s, T, 4>, Array<'s, T, 4>)> {
        let Some(base) = self.rotary else { return Ok((query, key)) };
        let positions = RotaryPositions::default().base(base).offset(first);
        Ok((ops::rotary_init(step, &query, positions)?, ops::rotary_init(step, &key, positions)?))
    }

    #[track_caller]
    fn attend<'s>(
        &self,
        step: &'s Step<'_>,
        query: &Array<'_, T, 4>,
        key: &Array<'_, T, 4>,
        value: &Array<'_, T, 4>,
        mask: AttentionMask<'_>,
    ) -> dahl::Result<Array<'s, T, 3>> {
        let geometry = AttentionGeometry::new(1.0 / (self.head_width() as f64).sqrt());
        let geometry = if self.causal || mask.is_causal() { geometry.causal() } else { geometry };
        let made;
        let visible = match mask.pairs() {
            (pairs, None) => pairs,
            (pairs, Some(keys)) => {
                made = mask::combined(step, pairs, keys, query.shape()[2])?;
                Some(&made)
            }
        };
        let out = match (&self.dropout, visible) {
            (Some(dropout), visible) if step.is_training() => {
                dropped::attention(step, [query, key, value], visible, geometry, dropout)?
            }
            (_, Some(visible)) => ops::attention_masked_init(step, query, key, value, visible, geometry)?.0,
            (_, None) => ops::attention_init(step, query, key, value, geometry)?.0,
        };
        self.out_proj.forward(step, &ops::merge_heads_init(step, &out)?)
    }
}
