//! [`dot`]: the inner product.

use dahl::prelude::*;
use dahl::simd;

/// Adds to `out` the inner product `sum of x[i] * y[i]`, summed pairwise in the compute type.
///
/// # Shapes
/// `x` and `y` of one shape, `out: []`.
///
/// `kernels/dot.c` has a second kernel, in C, for f32 and f64: `Dot::task(..).kernel("dot_c")` runs it.
#[codelet(
    R, R, REDUX,
    shape(out = []),
    check(x.shape() == y.shape()),
    flops = 2 * x.len(),
    cpu = [crate::kernels::DOT_C],
    cuda = crate::kernels::DOT,
    reference = crate::reference::matmul::dot,
    error = sum(n = x.len() + 1)
)]
pub fn dot<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute]) {
    out[0] += simd::dot(x, y);
}
