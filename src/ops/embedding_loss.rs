//! Losses of pairs that are alike (target 1) or not (target -1): [`hinge_embedding`] of distances, and
//! [`cosine_embedding`] of the angles between vectors.

use dahl::ndarray::{ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
use dahl::prelude::*;
use dahl::simd;

use crate::cpu::scratch::with_scratch;
use crate::reference::embedding_loss as reference;

/// `out = x` where the target `y` is 1, `max(0, margin - x)` where it is -1, and the sum of both elsewhere, as in
/// PyTorch.
///
/// Nothing flows to `y`.
///
/// # Shapes
/// `x`, the distance, `y`, the target, and `out` of one shape.
#[codelet(
    R, R, W,
    reference = reference::hinge_embedding,
    error = sum(n = 2, terms = reference::hinge_embedding_terms)
)]
pub fn hinge_embedding<T: Real>(x: T, y: T, margin: f64) -> T {
    let below = T::from_f64(margin) - x;
    let apart = if below < T::ZERO { T::ZERO } else { below };
    let of_apart = if y == T::ONE { T::ZERO } else { apart };
    let of_alike = if y == -T::ONE { T::ZERO } else { x };
    of_apart + of_alike
}

/// With the cosine of the angle between two vectors, `dot / sqrt((sum of left^2 + 1e-12) * (sum of right^2 + 1e-12))`:
/// `out = 1 - cosine` where the target is 1, `max(0, cosine - margin)` where it is -1, else 0, as in PyTorch.
///
/// Nothing flows to the target. There is no gradient of its gradients.
///
/// # Shapes
/// `left` and `right: [batch, features]`, `target` and `out: [batch]`.
#[codelet(
    R, R, R, W,
    shape(out = target),
    check(left.shape() == right.shape()),
    check(left.nrows() == target.len()),
    flops = 6 * left.len(),
    cuda = crate::kernels::COSINE_EMBEDDING,
    gradient = cosine_embedding_gradient(left, right, target),
    reference = reference::cosine_embedding,
    error = sum(n = left.ncols() + 8, terms = reference::cosine_embedding_terms)
)]
pub fn cosine_embedding<T: Real>(
    left: ArrayView2<T>,
    right: ArrayView2<T>,
    target: ArrayView1<T>,
    mut out: ArrayViewMut1<T>,
    margin: f64,
) {
    let margin = T::Compute::from_f64(margin);
    for_each_pair(left, right, |pair, left, right| {
        let cosine = Angle::between(left, right).cosine();
        let above = cosine - margin;
        out[pair] = T::narrow(match side(target[pair]) {
            Side::Alike => T::Compute::ONE - cosine,
            Side::Apart if above < T::Compute::ZERO => T::Compute::ZERO,
            Side::Apart => above,
            Side::Neither => T::Compute::ZERO,
        });
    });
}

fn cosine_embedding_gradient<T: Real>(rule: CosineEmbeddingGradient<'_, T>) -> dahl::Result<()> {
    rule.scope.refuse(rule.by_target);
    let CosineEmbeddingGradient { left, right, target, gradient, by_left, by_right, margin, .. } = rule;
    // It writes the gradients: there are no second ones.
    if let Some(by_left) = by_left {
        cosine_embedding_backward(left, right, target, gradient, by_left, margin)?;
    }
    if let Some(by_right) = by_right {
        cosine_embedding_backward(right, left, target, gradient, by_right, margin)?;
    }
    Ok(())
}

/// The gradient of [`cosine_embedding`] by `left`; by `right` with both exchanged:
/// `out = slope * (right - dot / (sum of left^2 + 1e-12) * left) / sqrt((sum of left^2 + 1e-12) * (sum of right^2 + 1e-12))`,
/// where `slope` is the gradient with the sign of the cosine in the loss.
///
/// # Shapes
/// `left`, `right` and `out: [batch, features]`, `target` and `gradient: [batch]`.
#[codelet(
    R, R, R, R, W,
    shape(out = left),
    check(left.shape() == right.shape()),
    check(left.nrows() == target.len()),
    check(gradient.shape() == target.shape()),
    flops = 10 * left.len(),
    cuda = crate::kernels::COSINE_EMBEDDING_BACKWARD,
    reference = reference::cosine_embedding_backward,
    error = sum(n = left.ncols() + 8, terms = reference::cosine_embedding_backward_terms)
)]
pub fn cosine_embedding_backward<T: Real>(
    left: ArrayView2<T>,
    right: ArrayView2<T>,
    target: ArrayView1<T>,
    gradient: ArrayView1<T>,
    mut out: ArrayViewMut2<T>,
    margin: f64,
) {
    let margin = T::Compute::from_f64(margin);
    for_each_pair(left, right, |pair, left, right| {
        let angle = Angle::between(left, right);
        let gradient = gradient[pair].widen();
        let slope = match side(target[pair]) {
            Side::Alike => -gradient,
            Side::Apart if angle.cosine() - margin < T::Compute::ZERO => T::Compute::ZERO,
            Side::Apart => gradient,
            Side::Neither => T::Compute::ZERO,
        };
        let (slope, part) = (slope / angle.lengths(), angle.dot / angle.left);
        for (out, (left, right)) in out.row_mut(pair).iter_mut().zip(left.iter().zip(right)) {
            *out = T::narrow(slope * (*right - part * *left));
        }
    });
}

/// What a pair should be.
enum Side {
    Alike,
    Apart,
    Neither,
}

#[inline(always)]
fn side<T: Real>(target: T) -> Side {
    if target == T::ONE {
        Side::Alike
    } else if target == -T::ONE {
        Side::Apart
    } else {
        Side::Neither
    }
}

/// Two vectors' inner product, and their squares, which are above 0.
struct Angle<C> {
    dot: C,
    left: C,
    right: C,
}

impl<C: Real<Compute = C>> Angle<C> {
    #[inline(always)]
    fn between(left: &[C], right: &[C]) -> Self {
        let epsilon = C::from_f64(1e-12);
        Self {
            dot: simd::dot(left, right),
            left: simd::dot(left, left) + epsilon,
            right: simd::dot(right, right) + epsilon,
        }
    }

    #[inline(always)]
    fn lengths(&self) -> C {
        (self.left * self.right).sqrt()
    }

    #[inline(always)]
    fn cosine(&self) -> C {
        self.dot / self.lengths()
    }
}

/// Calls `f` with the number of each pair of rows, and both in the compute type.
#[inline(always)]
fn for_each_pair<T: Real>(
    left: ArrayView2<'_, T>,
    right: ArrayView2<'_, T>,
    mut f: impl FnMut(usize, &[T::Compute], &[T::Compute]),
) {
    with_scratch([left.ncols(); 2], |[wide_left, wide_right]: [&mut [T::Compute]; 2]| {
        for (pair, (left, right)) in left.rows().into_iter().zip(right.rows()).enumerate() {
            wide_left.iter_mut().zip(left).for_each(|(to, from)| *to = from.widen());
            wide_right.iter_mut().zip(right).for_each(|(to, from)| *to = from.widen());
            f(pair, wide_left, wide_right);
        }
    });
}
