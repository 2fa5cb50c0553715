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
    gradient = dot_gradient(x, y),
    reference = crate::reference::matmul::dot,
    error = sum(n = x.len() + 1)
)]
pub fn dot<T: Real>(x: &[T], y: &[T], out: &mut [T::Compute]) {
    out[0] += simd::dot(x, y);
}

fn dot_gradient<T: Real, const N: usize>(rule: DotGradient<'_, T, N>) -> dahl::Result<()> {
    let gradient = rule.gradient.reshaped([1; N])?;
    if let Some(by_x) = rule.by_x {
        *by_x = super::mul_init(rule.scope, rule.y, &*gradient)?;
    }
    if let Some(by_y) = rule.by_y {
        *by_y = super::mul_init(rule.scope, rule.x, &*gradient)?;
    }
    Ok(())
}
