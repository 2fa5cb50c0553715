use dahl::ops::AttentionGeometry;
use dahl::testing::{Describes, Input, typed_output};

use super::*;

/// Numbers of the compute type.
fn wide<T: Real, const N: usize>(low: f64, high: f64, shape: [usize; N]) -> Input<T::Compute, N> {
    Describes::<T::Compute>::describe(within(low, high, shape))
}

numerics!(
    attention: ops::codelets::Attention,
    (
        within(-4.0, 4.0, [2, 4, 13, 7]),
        within(-4.0, 4.0, [2, 2, 31, 7]),
        within(-100.0, 100.0, [2, 2, 31, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25),)
);
numerics!(
    attention_causal: ops::codelets::Attention,
    (
        within(-4.0, 4.0, [1, 2, 67, 7]),
        within(-4.0, 4.0, [1, 1, 131, 7]),
        within(-100.0, 100.0, [1, 1, 131, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.5).causal(),)
);
numerics!(
    attention_masked: ops::codelets::AttentionMasked,
    (
        within(-4.0, 4.0, [2, 4, 13, 7]),
        within(-4.0, 4.0, [2, 2, 31, 7]),
        within(-100.0, 100.0, [2, 2, 31, 5]),
        below(2, [2, 13, 31]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25),)
);
numerics!(
    attention_backward: ops::codelets::AttentionBackward,
    (
        within(-2.0, 2.0, [2, 4, 13, 7]),
        within(-2.0, 2.0, [2, 2, 31, 7]),
        within(-10.0, 10.0, [2, 2, 31, 5]),
        within(-10.0, 10.0, [2, 4, 13, 5]),
        wide::<T, 3>(-1.0, 4.0, [2, 4, 13]),
        within(-10.0, 10.0, [2, 4, 13, 5]),
        wide::<T, 3>(-10.0, 10.0, [2, 4, 13]),
        output([2, 4, 13, 7]),
        output([2, 2, 31, 7]),
        output([2, 2, 31, 5])
    ),
    (AttentionGeometry::new(0.25),)
);
numerics!(
    attention_backward_causal: ops::codelets::AttentionBackward,
    (
        within(-2.0, 2.0, [1, 2, 67, 7]),
        within(-2.0, 2.0, [1, 1, 131, 7]),
        within(-10.0, 10.0, [1, 1, 131, 5]),
        within(-10.0, 10.0, [1, 2, 67, 5]),
        wide::<T, 3>(-1.0, 4.0, [1, 2, 67]),
        within(-10.0, 10.0, [1, 2, 67, 5]),
        wide::<T, 3>(-10.0, 10.0, [1, 2, 67]),
        output([1, 2, 67, 7]),
        output([1, 1, 131, 7]),
        output([1, 1, 131, 5])
    ),
    (AttentionGeometry::new(0.5).causal(),)
);
numerics!(
    attention_masked_backward: ops::codelets::AttentionMaskedBackward,
    (
        within(-2.0, 2.0, [2, 4, 13, 7]),
        within(-2.0, 2.0, [2, 2, 31, 7]),
        within(-10.0, 10.0, [2, 2, 31, 5]),
        below(2, [1, 13, 31]),
        within(-10.0, 10.0, [2, 4, 13, 5]),
        wide::<T, 3>(-1.0, 4.0, [2, 4, 13]),
        within(-10.0, 10.0, [2, 4, 13, 5]),
        wide::<T, 3>(-10.0, 10.0, [2, 4, 13]),
        output([2, 4, 13, 7]),
        output([2, 2, 31, 7]),
        output([2, 2, 31, 5])
    ),
    (AttentionGeometry::new(0.25),)
);
