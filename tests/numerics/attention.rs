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

/// Queries, keys, values and gradients by the output, some of which are NaN or infinite. They reach what sees them alone, and no
/// other sum of the blocks in which they are.
fn special<T: Real>() -> [Input<T, 4>; 4] {
    let input = |width, rows, places: &[(usize, f64)]| {
        Describes::<T>::describe(within(-2.0, 2.0, [1, 1, rows, width]).except(places))
    };
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    [
        input(7, 67, &[(30 * 7 + 2, nan)]),
        input(7, 131, &[(80 * 7 + 5, nan)]),
        input(5, 131, &[(100 * 5, nan), (127 * 5 + 3, infinity)]),
        input(5, 67, &[(3 * 5 + 1, nan)]),
    ]
}

numerics!(
    results of attention_of_special_numbers: ops::codelets::Attention,
    (
        special::<T>()[0].clone(),
        special::<T>()[1].clone(),
        special::<T>()[2].clone(),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25).causal(),)
);
numerics!(
    results of attention_masked_of_special_numbers: ops::codelets::AttentionMasked,
    (
        special::<T>()[0].clone(),
        special::<T>()[1].clone(),
        special::<T>()[2].clone(),
        below(2, [1, 67, 131]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25),)
);
numerics!(
    results of attention_backward_of_special_numbers: ops::codelets::AttentionBackward,
    (
        special::<T>()[0].clone(),
        special::<T>()[1].clone(),
        special::<T>()[2].clone(),
        within(-2.0, 2.0, [1, 1, 67, 5]),
        wide::<T, 3>(3.0, 5.0, [1, 1, 67]),
        special::<T>()[3].clone(),
        wide::<T, 3>(-2.0, 2.0, [1, 1, 67]),
        output([1, 1, 67, 7]),
        output([1, 1, 131, 7]),
        output([1, 1, 131, 5])
    ),
    (AttentionGeometry::new(0.25).causal(),)
);
numerics!(
    results of attention_masked_backward_of_special_numbers: ops::codelets::AttentionMaskedBackward,
    (
        special::<T>()[0].clone(),
        special::<T>()[1].clone(),
        special::<T>()[2].clone(),
        below(2, [1, 67, 131]),
        within(-2.0, 2.0, [1, 1, 67, 5]),
        wide::<T, 3>(3.0, 5.0, [1, 1, 67]),
        special::<T>()[3].clone(),
        wide::<T, 3>(-2.0, 2.0, [1, 1, 67]),
        output([1, 1, 67, 7]),
        output([1, 1, 131, 7]),
        output([1, 1, 131, 5])
    ),
    (AttentionGeometry::new(0.25),)
);
