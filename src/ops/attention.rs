//! [`attention`]: the softmax of the products of queries and keys, times values; and its gradients.
//!
//! Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser and Polosukhin 2017, *Attention Is All You Need*, section 3.2.1,
//! computed in blocks as FlashAttention is (`cpu::attention`): memory grows with the number of tokens, not with its square.
//! Several heads may share a key and a value (Ainslie, Lee-Thorp, de Jong, Zemlyanskiy, Lebrón and Sanghai 2023, *GQA:
//! Training Generalized Multi-Query Transformer Models from Multi-Head Checkpoints*).

use dahl::ndarray::{ArrayView3, ArrayView4, ArrayViewMut3, ArrayViewMut4};
use dahl::prelude::*;
use dahl::rayon::prelude::*;
use dahl::{Result, Scope};

use super::attention_gradients::Gradients;
use crate::cpu::attention::{Head, attend};
use crate::cpu::gemm::Cores;
use crate::cpu::row_major::{elements, row_major, write};

/// How the scores of attention are computed.
///
/// ```
/// use dahl::ops::AttentionGeometry;
///
/// let geometry = AttentionGeometry::new(0.125).causal();
/// assert_eq!((geometry.scale, geometry.causal), (0.125, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Argument)]
#[repr(C)]
pub struct AttentionGeometry {
    /// The factor of the products of queries and keys: usually `1 / sqrt(width)`.
    pub scale: f64,
    /// Whether a query sees the keys up to its own position alone. Positions count from the end, as where earlier keys are
    /// cached: query `i` of `tokens` sees the keys up to number `keys - tokens + i`, and the last query sees all.
    pub causal: bool,
}

impl AttentionGeometry {
    /// Scores with this factor; every query sees all keys.
    pub const fn new(scale: f64) -> Self {
        Self { scale, causal: false }
    }

    /// Hides from a query the keys of later positions.
    pub const fn causal(mut self) -> Self {
        self.causal = true;
        self
    }
}

/// Whether the shapes of query, key and value agree.
pub(super) fn agree(query: [usize; 4], key: [usize; 4], value: [usize; 4]) -> bool {
    let shares = if key[1] == 0 { query[1] == 0 } else { query[1].is_multiple_of(key[1]) };
    shares && query[0] == key[0] && query[3] == key[3] && key[..3] == value[..3]
}

/// The shape of the output.
pub(super) fn output_shape([batch, heads, tokens, _]: [usize; 4], value: [usize; 4]) -> [usize; 4] {
    [batch, heads, tokens, value[3]]
}

/// The shape without the width.
pub(super) fn without_width([batch, heads, tokens, _]: [usize; 4]) -> [usize; 3] {
    [batch, heads, tokens]
}

/// The extents of one head.
pub(super) fn head_of(query: &[usize], value: &[usize], geometry: AttentionGeometry) -> Head {
    Head {
        tokens: query[2],
        keys: value[2],
        width: query[3],
        value_width: value[3],
        scale: geometry.scale,
        is_causal: geometry.causal,
    }
}

/// Matrices of equal size, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Matrices<'a, T> {
    pub(super) elements: &'a [T],
    pub(super) len: usize,
}

impl<'a, T> Matrices<'a, T> {
    pub(super) fn get(self, number: usize) -> &'a [T] {
        &self.elements[number * self.len..][..self.len]
    }
}

/// Queries, keys and values as the matrices of heads.
pub(super) fn of_heads<T>(head: Head, [query, key, value]: [&[T]; 3]) -> [Matrices<'_, T>; 3] {
    let Head { tokens, keys, width, value_width, .. } = head;
    [
        Matrices { elements: query, len: tokens * width },
        Matrices { elements: key, len: keys * width },
        Matrices { elements: value, len: keys * value_width },
    ]
}

/// The mask of each sample of a batch.
#[derive(Clone, Copy)]
pub(super) struct Masks<'a> {
    elements: &'a [u8],
    len: usize,
    /// Whether all samples have one.
    is_shared: bool,
}

impl<'a> Masks<'a> {
    pub(super) fn new(elements: &'a [u8], shape: &[usize]) -> Self {
        Self { elements, len: shape[1] * shape[2], is_shared: shape[0] == 1 }
    }

    pub(super) fn get(self, sample: usize) -> &'a [u8] {
        let sample = if self.is_shared { 0 } else { sample };
        &self.elements[sample * self.len..][..self.len]
    }
}

/// [`attention`] on one core, or on several, which share the heads.
pub(super) fn attend_on<T: Real, L: Real>(
    cores: Cores,
    inputs: [ArrayView4<'_, T>; 3],
    mask: Option<ArrayView3<'_, u8>>,
    out: ArrayViewMut4<'_, T>,
    log_sum_exp: ArrayViewMut3<'_, L>,
    geometry: AttentionGeometry,
) {
    let [query, key, value] = inputs.each_ref().map(|array| array.shape());
    let head = head_of(query, value, geometry);
    let (shared_by, batch, heads) = (query[1] / key[1].max(1), query[0], query[1]);
    let inputs = inputs.each_ref().map(row_major);
    let [query, key, value] = of_heads(head, inputs.each_ref().map(elements));
    let masks = mask.as_ref().map(|mask| (row_major(mask), mask.shape()));
    let masks = masks.as_ref().map(|(mask, shape)| Masks::new(elements(mask), shape));
    let attend = |number: usize, out: &mut [T], sums: &mut [L]| {
        let shared = [key, value].map(|array| array.get(number / shared_by));
        let mask = masks.map(|masks| masks.get(number / heads));
        attend(head, query.get(number), shared, mask, out, sums);
    };
    let (tokens, len) = (head.tokens, head.tokens * head.value_width);
    write(out, |out| {
        write(log_sum_exp, |sums| {
            // Without rows of values there is no work to share.
            if cores == Cores::Pool && len > 0 {
                let outputs = out.par_chunks_mut(len).zip(sums.par_chunks_mut(tokens)).enumerate();
                return outputs.for_each(|(number, (out, sums))| attend(number, out, sums));
            }
            for number in 0..batch * heads {
                let (out, sums) = (&mut out[number * len..], &mut sums[number * tokens..]);
                attend(number, &mut out[..len], &mut sums[..tokens]);
            }
        });
    });
}

/// The codelet, with an element type of its own for the logarithms: [`Real::Compute`] in the functions below.
mod declared {
    use super::*;

    /// `out = softmax(scale * query x transposed(key)) x value` for each head, and
    /// `log_sum_exp = ln(sum of exp(scale * query x transposed(key)))` for each query.
    ///
    /// # Shapes
    /// `query: [batch, heads, tokens, width]`, `key: [batch, kv_heads, keys, width]`,
    /// `value: [batch, kv_heads, keys, value_width]`, `out: [batch, heads, tokens, value_width]`,
    /// `log_sum_exp: [batch, heads, tokens]`.
    #[codelet(
        R, R, R, W, W,
        shape(out = output_shape(query.shape(), value.shape())),
        shape(log_sum_exp = without_width(query.shape())),
        check(agree(query.shape(), key.shape(), value.shape())),
        check(geometry.scale.is_finite()),
        flops = 2 * query.len() * key.shape()[2] + 2 * out.len() * key.shape()[2],
        parallel = attention_on_cores,
        cuda = crate::kernels::ATTENTION,
        gradient = attention_gradient(query, key, value, out, log_sum_exp),
        reference = crate::reference::attention::attention,
        error = sum(
            n = key.shape()[2] + key.shape()[3] + 32,
            terms = crate::reference::attention::attention_terms
        )
    )]
    pub fn attention<T: Real, L: Real>(
        query: ArrayView4<T>,
        key: ArrayView4<T>,
        value: ArrayView4<T>,
        out: ArrayViewMut4<T>,
        log_sum_exp: ArrayViewMut3<L>,
        geometry: AttentionGeometry,
    ) {
        attend_on(Cores::One, [query, key, value], None, out, log_sum_exp, geometry);
    }

    /// [`attention`] on several cores, which share the heads.
    fn attention_on_cores<T: Real, L: Real>(
        query: ArrayView4<T>,
        key: ArrayView4<T>,
        value: ArrayView4<T>,
        out: ArrayViewMut4<T>,
        log_sum_exp: ArrayViewMut3<L>,
        geometry: AttentionGeometry,
    ) {
        attend_on(Cores::Pool, [query, key, value], None, out, log_sum_exp, geometry);
    }

    fn attention_gradient<T: Real, L: Real>(rule: AttentionGradient<'_, T, L>) -> Result<()> {
        let AttentionGradient { query, key, value, out, log_sum_exp, geometry, scope, .. } = rule;
        let gradients = Gradients {
            inputs: [query, key, value],
            mask: None,
            results: (out, log_sum_exp),
            by_results: (rule.gradient_out, rule.gradient_log_sum_exp),
            geometry,
        };
        gradients.write(scope, [rule.by_query, rule.by_key, rule.by_value])
    }
}

pub use declared::Attention;

/// `out = softmax(scale * query x transposed(key)) x value` for each head, and
/// `log_sum_exp = ln(sum of exp(scale * query x transposed(key)))` for each query, which the gradient needs.
///
/// Sums are in the compute type, and so are the logarithms. Head `i` uses key and value `i / (heads / kv_heads)`. A query that
/// sees no key gets zeros, and minus infinity as its logarithm. A key that a query does not see has no part in the query's
/// results, whatever the key and its value hold: infinities and NaN too, as in a cache that is not full. (PyTorch adds minus
/// infinity to its score, and a NaN there reaches the result.)
///
/// Gradients flow through both outputs, and a hidden pair adds nothing to them either. Second gradients hold the matrices of
/// all probabilities and multiply them as a whole, so that a NaN of a hidden key does reach those; through `log_sum_exp` there
/// are none (error D0021).
///
/// ```
/// use dahl::ops::{AttentionGeometry, attention_init};
/// use dahl::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let arena = rt.arena();
/// let query = arena.from_slice([1, 1, 2, 1], &[0.0_f32, 0.0])?; // products of 0 with all keys: equal weights
/// let value = arena.from_slice([1, 1, 2, 1], &[1.0, 3.0])?;
/// let geometry = AttentionGeometry::new(1.0).causal();
/// let (out, log_sum_exp) = attention_init(&arena, &query, &value, &value, geometry)?;
/// assert_eq!(out.to_vec()?, [1.0, 2.0]); // the second token sees both
/// assert_eq!(log_sum_exp.to_vec()?[0], 0.0); // ln(exp(0))
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `query: [batch, heads, tokens, width]`, `key: [batch, kv_heads, keys, width]`,
/// `value: [batch, kv_heads, keys, value_width]`, with `heads` a multiple of `kv_heads`;
/// `out: [batch, heads, tokens, value_width]`, `log_sum_exp: [batch, heads, tokens]`.
///
/// # Errors
/// If the shapes do not agree, or the scale is not finite.
#[track_caller]
pub fn attention<T: Real>(
    query: &Array<'_, T, 4>,
    key: &Array<'_, T, 4>,
    value: &Array<'_, T, 4>,
    out: &mut Array<'_, T, 4>,
    log_sum_exp: &mut Array<'_, T::Compute, 3>,
    geometry: AttentionGeometry,
) -> Result<()> {
    declared::attention(query, key, value, out, log_sum_exp, geometry)
}

/// [`attention`] into new arrays of `scope`: `out` and `log_sum_exp`.
///
/// # Errors
/// As for [`attention`], or if memory cannot be allocated.
#[track_caller]
pub fn attention_init<'m, T: Real>(
    scope: &'m impl Scope<Attention>,
    query: &Array<'_, T, 4>,
    key: &Array<'_, T, 4>,
    value: &Array<'_, T, 4>,
    geometry: AttentionGeometry,
) -> Result<(Array<'m, T, 4>, Array<'m, T::Compute, 3>)> {
    declared::attention_init(scope, query, key, value, geometry)
}
