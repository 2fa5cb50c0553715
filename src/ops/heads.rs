//! The heads of attention: features of a token, divided among heads that are computed apart, and joined again.

use dahl::ndarray::{ArrayView3, ArrayView4, ArrayViewMut3, ArrayViewMut4, s};
use dahl::prelude::*;

/// How many heads the features of a token hold: first those of the queries, then the keys', then the values'.
///
/// With fewer heads of keys and values than of queries, several queries share one (Ainslie et al. 2023, *GQA: Training
/// Generalized Multi-Query Transformer Models*).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Argument)]
#[repr(C)]
pub struct Heads {
    /// The heads of the queries.
    pub queries: usize,
    /// The heads of the keys, and as many of the values.
    pub keys: usize,
}

impl Heads {
    /// As many heads of queries, of keys and of values.
    pub const fn new(heads: usize) -> Self {
        Self { queries: heads, keys: heads }
    }

    /// Divides the keys and the values into fewer heads, which the queries share.
    pub const fn shared_keys(mut self, heads: usize) -> Self {
        self.keys = heads;
        self
    }

    /// The heads in all.
    fn count(self) -> Option<usize> {
        self.keys.checked_mul(2)?.checked_add(self.queries)
    }

    /// Whether so many features can be divided.
    fn divide(self, features: usize) -> bool {
        self.count().is_some_and(|count| count > 0 && features.is_multiple_of(count))
    }

    /// The features of one head.
    fn width(self, features: usize) -> usize {
        features / self.count().unwrap_or(1).max(1)
    }
}

/// Divides the features of each token into heads of queries, keys and values.
///
/// # Shapes
/// `input: [batch, tokens, (queries + 2 keys) * width]`; `query: [batch, queries, tokens, width]`,
/// `key` and `value: [batch, keys, tokens, width]`.
#[codelet(
    R, W, W, W,
    shape(
        query = [input.shape()[0], heads.queries, input.shape()[1], heads.width(input.shape()[2])],
        key = [input.shape()[0], heads.keys, input.shape()[1], heads.width(input.shape()[2])],
        value = [input.shape()[0], heads.keys, input.shape()[1], heads.width(input.shape()[2])]
    ),
    check(heads.divide(input.shape()[2])),
    rows(1),
    cuda = crate::kernels::SPLIT_HEADS,
    gradient = split_heads_gradient(query, key, value),
    reference = crate::reference::heads::split_heads,
    error = rounded
)]
pub fn split_heads<T: Element>(
    input: ArrayView3<T>,
    mut query: ArrayViewMut4<T>,
    mut key: ArrayViewMut4<T>,
    mut value: ArrayViewMut4<T>,
    heads: Heads,
) {
    let width = heads.width(input.dim().2);
    take_heads(&input, &mut query, 0);
    take_heads(&input, &mut key, heads.queries * width);
    take_heads(&input, &mut value, (heads.queries + heads.keys) * width);
}

fn split_heads_gradient<T: Real>(rule: SplitHeadsGradient<'_, T>) -> dahl::Result<()> {
    let Some(by_input) = rule.by_input else { return Ok(()) };
    let arena = rule.scope.detached();
    // A part that the loss does not depend on has a gradient of zero.
    let (by_query, by_key, by_value);
    let query = match rule.gradient_query {
        Some(gradient) => gradient,
        None => {
            by_query = arena.zeros(rule.query.shape())?;
            &by_query
        }
    };
    let key = match rule.gradient_key {
        Some(gradient) => gradient,
        None => {
            by_key = arena.zeros(rule.key.shape())?;
            &by_key
        }
    };
    let value = match rule.gradient_value {
        Some(gradient) => gradient,
        None => {
            by_value = arena.zeros(rule.value.shape())?;
            &by_value
        }
    };
    *by_input = join_heads_init(rule.scope, query, key, value)?;
    Ok(())
}

/// The inverse of [`split_heads`], and its gradient.
///
/// # Shapes
/// As for [`split_heads`].
#[codelet(
    R, R, R, W,
    shape(out = [
        query.shape()[0],
        query.shape()[2],
        query.shape()[1] * query.shape()[3] + 2 * key.shape()[1] * key.shape()[3],
    ]),
    check(key.shape() == value.shape()),
    check(key.shape() == [query.shape()[0], key.shape()[1], query.shape()[2], query.shape()[3]]),
    rows(1),
    cuda = crate::kernels::JOIN_HEADS,
    gradient = join_heads_gradient(query, key),
    reference = crate::reference::heads::join_heads,
    error = rounded
)]
pub fn join_heads<T: Element>(
    query: ArrayView4<T>,
    key: ArrayView4<T>,
    value: ArrayView4<T>,
    mut out: ArrayViewMut3<T>,
) {
    let mut first = 0;
    for input in [&query, &key, &value] {
        put_heads(input, &mut out, first);
        first += input.dim().1 * input.dim().3;
    }
}

fn join_heads_gradient<T: Real>(rule: JoinHeadsGradient<'_, T>) -> dahl::Result<()> {
    let heads = Heads::new(rule.query.shape()[1]).shared_keys(rule.key.shape()[1]);
    let (query, key, value) = split_heads_init(rule.scope, rule.gradient, heads)?;
    if let Some(by_query) = rule.by_query {
        *by_query = query;
    }
    if let Some(by_key) = rule.by_key {
        *by_key = key;
    }
    if let Some(by_value) = rule.by_value {
        *by_value = value;
    }
    Ok(())
}

/// Joins the features of each token's heads: `out[b, i, h * width + j] = input[b, h, i, j]`.
///
/// # Shapes
/// `input: [batch, heads, tokens, width]`, `out: [batch, tokens, heads * width]`.
#[codelet(
    R, W,
    shape(out = [input.shape()[0], input.shape()[2], input.shape()[1] * input.shape()[3]]),
    rows(1),
    cuda = crate::kernels::MERGE_HEADS,
    gradient = adjoint(divide_heads),
    reference = crate::reference::heads::merge_heads,
    error = rounded
)]
pub fn merge_heads<T: Element>(input: ArrayView4<T>, mut out: ArrayViewMut3<T>) {
    put_heads(&input, &mut out, 0);
}

/// The inverse of [`merge_heads`], and its gradient. The caller must give the shape of `out`.
///
/// # Shapes
/// As for [`merge_heads`].
#[codelet(
    R, W,
    check(input.shape() == [out.shape()[0], out.shape()[2], out.shape()[1] * out.shape()[3]]),
    rows(1),
    cuda = crate::kernels::DIVIDE_HEADS,
    gradient = adjoint(merge_heads),
    reference = crate::reference::heads::divide_heads,
    error = rounded
)]
pub fn divide_heads<T: Element>(input: ArrayView3<T>, mut out: ArrayViewMut4<T>) {
    take_heads(&input, &mut out, 0);
}

/// Copies the features from `first` on of each token to the heads of `out`.
fn take_heads<T: Element>(input: &ArrayView3<'_, T>, out: &mut ArrayViewMut4<'_, T>, first: usize) {
    let (batch, heads, _, width) = out.dim();
    for (sample, head) in (0..batch).flat_map(|sample| (0..heads).map(move |head| (sample, head))) {
        let start = first + head * width;
        out.slice_mut(s![sample, head, .., ..]).assign(&input.slice(s![sample, .., start..start + width]));
    }
}

/// Copies the heads of `input` to the features from `first` on of each token.
fn put_heads<T: Element>(input: &ArrayView4<'_, T>, out: &mut ArrayViewMut3<'_, T>, first: usize) {
    let (batch, heads, _, width) = input.dim();
    for (sample, head) in (0..batch).flat_map(|sample| (0..heads).map(move |head| (sample, head))) {
        let start = first + head * width;
        out.slice_mut(s![sample, .., start..start + width]).assign(&input.slice(s![sample, head, .., ..]));
    }
}
