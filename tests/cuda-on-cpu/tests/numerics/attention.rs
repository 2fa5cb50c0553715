use dahl::ops::AttentionGeometry;
use dahl::testing::typed_output;

use super::*;

/// Numbers of the compute type.
fn wide<T: Real, const N: usize>(low: f64, high: f64, shape: [usize; N]) -> Input<T::Compute, N> {
    Describes::<T::Compute>::describe(within(low, high, shape))
}

on_cpu!(
    attention: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        within(-4.0, 4.0, [2, 4, 13, 7]),
        within(-4.0, 4.0, [2, 2, 31, 7]),
        within(-100.0, 100.0, [2, 2, 31, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25),)
);
// Several tiles of queries and of keys, of which the first queries do not see the last.
on_cpu!(
    attention_causal: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        within(-4.0, 4.0, [1, 2, 67, 7]),
        within(-4.0, 4.0, [1, 1, 131, 7]),
        within(-100.0, 100.0, [1, 1, 131, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.5).causal(),)
);
// Queries that see no key.
on_cpu!(
    attention_of_few_keys: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        within(-4.0, 4.0, [1, 1, 67, 7]),
        within(-4.0, 4.0, [1, 1, 33, 7]),
        within(-100.0, 100.0, [1, 1, 33, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.5).causal(),)
);
// Wider than a chunk, and than the sums of a block.
on_cpu!(
    attention_of_wide_heads: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        within(-4.0, 4.0, [1, 1, 5, 67]),
        within(-4.0, 4.0, [1, 1, 35, 67]),
        within(-100.0, 100.0, [1, 1, 35, 130]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.0625),)
);
on_cpu!(
    attention_masked: attention_masked [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionMasked,
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
on_cpu!(
    attention_backward: attention_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionBackward,
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
// Several tiles of queries and of keys.
on_cpu!(
    attention_backward_causal: attention_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionBackward,
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
// Wider than a chunk, and than the sums of a block.
on_cpu!(
    attention_backward_of_wide_heads: attention_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionBackward,
    (
        within(-2.0, 2.0, [1, 1, 5, 67]),
        within(-2.0, 2.0, [1, 1, 35, 67]),
        within(-10.0, 10.0, [1, 1, 35, 130]),
        within(-10.0, 10.0, [1, 1, 5, 130]),
        wide::<T, 3>(-1.0, 4.0, [1, 1, 5]),
        within(-10.0, 10.0, [1, 1, 5, 130]),
        wide::<T, 3>(-10.0, 10.0, [1, 1, 5]),
        output([1, 1, 5, 67]),
        output([1, 1, 35, 67]),
        output([1, 1, 35, 130])
    ),
    (AttentionGeometry::new(0.0625),)
);
on_cpu!(
    attention_masked_backward: attention_masked_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionMaskedBackward,
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

on_cpu!(
    attention_of_special_numbers: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        special::<T>()[0].clone(),
        special::<T>()[1].clone(),
        special::<T>()[2].clone(),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25).causal(),)
);
on_cpu!(
    attention_masked_of_special_numbers: attention_masked [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionMasked,
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
on_cpu!(
    attention_backward_of_special_numbers: attention_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionBackward,
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
on_cpu!(
    attention_masked_backward_of_special_numbers: attention_masked_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionMaskedBackward,
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

/// Keys of which the first is minus infinity in one component. Queries are positive, so its scores are minus infinity, and the first
/// query sees no other key.
fn first_is_infinite<T: Real>() -> Input<T, 4> {
    Describes::<T>::describe(within(-2.0, 2.0, [1, 1, 3, 7]).except(&[(2, f64::NEG_INFINITY)]))
}

on_cpu!(
    attention_of_an_infinite_key: attention [<<T as Real>::Compute as Element>::NAME] of ops::codelets::Attention,
    (
        within(0.5, 2.0, [1, 1, 3, 7]),
        first_is_infinite::<T>(),
        within(-2.0, 2.0, [1, 1, 3, 5]),
        _,
        typed_output::<<T as Real>::Compute, 3>()
    ),
    (AttentionGeometry::new(0.25).causal(),)
);
on_cpu!(
    attention_backward_of_an_infinite_key: attention_backward [<<T as Real>::Compute as Element>::NAME] of ops::codelets::AttentionBackward,
    (
        within(0.5, 2.0, [1, 1, 3, 7]),
        first_is_infinite::<T>(),
        within(-2.0, 2.0, [1, 1, 3, 5]),
        within(-2.0, 2.0, [1, 1, 3, 5]),
        Describes::<<T as Real>::Compute>::describe(within(3.0, 5.0, [1, 1, 3]).except(&[(0, f64::NEG_INFINITY)])),
        within(-2.0, 2.0, [1, 1, 3, 5]),
        wide::<T, 3>(-2.0, 2.0, [1, 1, 3]),
        output([1, 1, 3, 7]),
        output([1, 1, 3, 7]),
        output([1, 1, 3, 5])
    ),
    (AttentionGeometry::new(0.25).causal(),)
);
