//! [`dot`]: the inner product.

use dahl::prelude::*;
use dahl::simd;

/// Adds to `out` the inner product `sum of x[i] * y[i]`, summed pairwise in the compute type.
///
/// # Shapes
/// `x` and `y` of one shape, `out: []`.
#[codelet(R, R, REDUX, shape(out = []), check(x.shape() == y.shape()), flops = 2 * x.len())]
pub fn dot<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute]) {
    out[0] += simd::dot(x, y);
}
