//! The gradients of [`attention`](super::attention()).

use dahl::ndarray::{ArrayView3, ArrayView4, ArrayViewMut4};
use dahl::prelude::*;
use dahl::rayon::prelude::*;

use super::AttentionGeometry;
use super::attention::{Masks, Matrices, agree, head_of, of_heads, output_shape, without_width};
use crate::cpu::attention::{Attended, Head, attend_backward};
use crate::cpu::gemm::Cores;
use crate::cpu::row_major::{elements, row_major, write};

/// The gradients of [`attention`](super::attention()) by its query, key and value, with the probabilities `p = exp(score - log_sum_exp)`:
/// the gradient by the scores is `p * (gradient x transposed(value) - sum of (out * gradient) + gradient_log_sum_exp)`.
///
/// # Shapes
/// `query`, `key` and `value`, and the gradients by them, as for [`attention`](super::attention()); `out` and `gradient` as its output,
/// `log_sum_exp` and `gradient_log_sum_exp` as its logarithms.
#[codelet(
    R, R, R, R, R, R, R, W, W, W,
    shape(by_query = query),
    shape(by_key = key),
    shape(by_value = value),
    check(agree(query.shape(), key.shape(), value.shape())),
    check(out.shape() == output_shape(query.shape(), value.shape())),
    check(gradient.shape() == out.shape()),
    check(log_sum_exp.shape() == without_width(query.shape())),
    check(gradient_log_sum_exp.shape() == log_sum_exp.shape()),
    check(geometry.scale.is_finite()),
    flops = 6 * query.len() * key.shape()[2] + 4 * out.len() * key.shape()[2],
    parallel = attention_backward_on_cores,
    cuda = crate::kernels::ATTENTION_BACKWARD,
    reference = crate::reference::attention::attention_backward,
    error = sum(
        n = (query.shape()[1] / key.shape()[1].max(1)) * query.shape()[2]
            + key.shape()[2] + key.shape()[3] + value.shape()[3] + 32,
        terms = crate::reference::attention::attention_backward_terms
    )
)]
pub fn attention_backward<T: Real, L: Real>(
    query: ArrayView4<T>,
    key: ArrayView4<T>,
    value: ArrayView4<T>,
    out: ArrayView4<T>,
    log_sum_exp: ArrayView3<L>,
    gradient: ArrayView4<T>,
    gradient_log_sum_exp: ArrayView3<L>,
    by_query: ArrayViewMut4<T>,
    by_key: ArrayViewMut4<T>,
    by_value: ArrayViewMut4<T>,
    geometry: AttentionGeometry,
) {
    let by = [by_query, by_key, by_value];
    let sums = [log_sum_exp, gradient_log_sum_exp];
    attend_backward_on(Cores::One, [query, key, value], None, [out, gradient], sums, by, geometry);
}

/// [`attention_backward`] on several cores, which share the keys and values.
#[allow(clippy::too_many_arguments, reason = "they are those of the codelet")]
fn attention_backward_on_cores<T: Real, L: Real>(
    query: ArrayView4<T>,
    key: ArrayView4<T>,
    value: ArrayView4<T>,
    out: ArrayView4<T>,
    log_sum_exp: ArrayView3<L>,
    gradient: ArrayView4<T>,
    gradient_log_sum_exp: ArrayView3<L>,
    by_query: ArrayViewMut4<T>,
    by_key: ArrayViewMut4<T>,
    by_value: ArrayViewMut4<T>,
    geometry: AttentionGeometry,
) {
    let by = [by_query, by_key, by_value];
    let sums = [log_sum_exp, gradient_log_sum_exp];
    attend_backward_on(Cores::Pool, [query, key, value], None, [out, gradient], sums, by, geometry);
}

/// [`attention_backward`] on one core, or on several, which share the keys and values.
pub(super) fn attend_backward_on<T: Real, L: Real>(
    cores: Cores,
    inputs: [ArrayView4<'_, T>; 3],
    mask: Option<ArrayView3<'_, u8>>,
    results: [ArrayView4<'_, T>; 2],
    sums: [ArrayView3<'_, L>; 2],
    [by_query, by_key, by_value]: [ArrayViewMut4<'_, T>; 3],
    geometry: AttentionGeometry,
) {
    let [query, key, value] = inputs.each_ref().map(|array| array.shape());
    let (head, shared) = (head_of(query, value, geometry), key[0] * key[1]);
    let (shared_by, kv_heads) = (query[1] / key[1].max(1), key[1]);
    let masks = mask.as_ref().map(|mask| (row_major(mask), mask.shape()));
    let (inputs, results) = (inputs.each_ref().map(row_major), results.each_ref().map(row_major));
    let sums = sums.each_ref().map(row_major);
    let inputs = Inputs {
        of_heads: of_heads(head, inputs.each_ref().map(elements)),
        results: results.each_ref().map(elements),
        sums: sums.each_ref().map(elements),
        masks: masks.as_ref().map(|(mask, shape)| Masks::new(elements(mask), shape)),
        head,
        shared_by,
        kv_heads,
    };
    let [query, key, value] = inputs.lengths();
    write(by_query, |by_query| {
        write(by_key, |by_key| {
            write(by_value, |by_value| {
                if cores == Cores::Pool && query > 0 && key > 0 && value > 0 {
                    let by_shared = by_key.par_chunks_mut(key).zip(by_value.par_chunks_mut(value));
                    let all = by_query.par_chunks_mut(query).zip(by_shared).enumerate();
                    return all.for_each(|(number, (by_query, (by_key, by_value)))| {
                        inputs.backward(number, by_query, [by_key, by_value]);
                    });
                }
                for number in 0..shared {
                    let by_key = &mut by_key[number * key..][..key];
                    let by_value = &mut by_value[number * value..][..value];
                    inputs.backward(number, &mut by_query[number * query..][..query], [by_key, by_value]);
                }
            });
        });
    });
}

/// What [`attention_backward`] reads.
struct Inputs<'a, T, L> {
    /// Queries, keys and values.
    of_heads: [Matrices<'a, T>; 3],
    /// The outputs, and the gradients by them.
    results: [&'a [T]; 2],
    /// The logarithms of the sums, and the gradients by them.
    sums: [&'a [L]; 2],
    masks: Option<Masks<'a>>,
    head: Head,
    /// How many heads share a key and a value.
    shared_by: usize,
    /// The heads of keys and values.
    kv_heads: usize,
}

impl<T: Real, L: Real> Inputs<'_, T, L> {
    /// The numbers of elements of the queries that share a key, of the key, and of the value.
    fn lengths(&self) -> [usize; 3] {
        let [query, key, value] = self.of_heads.map(|matrices| matrices.len);
        [self.shared_by * query, key, value]
    }

    /// The gradients by one key and value, and by the queries that share them.
    fn backward(&self, number: usize, by_query: &mut [T], by_shared: [&mut [T]; 2]) {
        let Self { head, of_heads: [query, key, value], .. } = *self;
        let results = self.results.map(|elements| Matrices { elements, len: head.tokens * head.value_width });
        let sums = self.sums.map(|elements| Matrices { elements, len: head.tokens });
        let attended = (0..self.shared_by).map(|place| {
            let number = number * self.shared_by + place;
            Attended {
                query: query.get(number),
                out: results[0].get(number),
                log_sum_exp: sums[0].get(number),
                gradient: results[1].get(number),
                gradient_log_sum_exp: sums[1].get(number),
            }
        });
        let mask = self.masks.map(|masks| masks.get(number / self.kv_heads));
        attend_backward(head, attended, [key.get(number), value.get(number)], mask, by_query, by_shared);
    }
}
