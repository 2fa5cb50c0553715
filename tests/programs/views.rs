//! Moves that undo each other, slices that are read where they were, and concatenations: the same bits, fewer tasks.

use dahl::ops::{
    add_init, add_self, concat_init, matmul_init, mul_init, neg_init, permute_init, relu_init, slice_init,
    sum_init, transpose_init,
};
use dahl::prelude::*;

fn array<'r, T: Real, const N: usize>(rt: &'r Runtime, shape: [usize; N]) -> dahl::Result<Array<'r, T, N>> {
    let value = |i: usize| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0);
    rt.from_vec(shape, (0..shape.iter().product()).map(value).collect())
}

fn bits<T: Real, const N: usize>(array: &Array<'_, T, N>) -> dahl::Result<Vec<u64>> {
    Ok(array.to_vec()?.into_iter().map(|value| value.to_f64().to_bits()).collect())
}

/// The passes under test: the second leaves out what nobody reads any more.
const PASSES: [Passes; 3] =
    [Passes::none(), Passes::none().views(true).dead_tasks(true), Passes::all().constants(true)];

/// Two permutations that cancel; two that are one; a product, whose factor lies as it did.
#[program]
fn permuted<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Array<'_, T, 3>,
    m: &Matrix<'_, T>,
) -> dahl::Result<(Array<'s, T, 3>, Array<'s, T, 3>, Matrix<'s, T>)> {
    let turned = permute_init(scope, x, [1, 2, 0])?;
    let back = neg_init(scope, &permute_init(scope, &turned, [2, 0, 1])?)?;
    let twice = permute_init(scope, &turned, [1, 2, 0])?;
    let product = matmul_init(scope, &transpose_init(scope, &transpose_init(scope, m)?)?, m)?;
    Ok((back, twice, product))
}

fn check_permuted<T: Real>() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    for shape in [[3, 4, 5], [1, 7, 2], [6, 1, 1], [0, 2, 3]] {
        let (x, m) = (array::<T, 3>(&rt, shape)?, array::<T, 2>(&rt, [9, 9])?);
        let mut results = Vec::new();
        for (passes, tasks) in PASSES.into_iter().zip([7, 3, 3]) {
            let mut program = Permuted::new(&rt).passes(passes);
            for _ in 0..2 {
                let (back, twice, product) = program.call(&x, &m)?;
                results.push((bits(&back)?, bits(&twice)?, bits(&product)?));
            }
            // Of no elements, all strides are alike.
            if !shape.contains(&0) {
                assert_eq!(program.graph().tasks(), tasks, "{shape:?}: {}", program.graph());
            }
        }
        assert!(results.iter().all(|result| *result == results[0]), "{} of {shape:?}", T::NAME);
    }
    Ok(())
}

#[test]
fn permutations_cancel_with_the_same_bits_in_every_type() -> dahl::Result<()> {
    check_permuted::<f16>()?;
    check_permuted::<bf16>()?;
    check_permuted::<f32>()?;
    check_permuted::<f64>()
}

/// Slices of slices and of permutations, which maps read in place, and one slice twice at two places.
#[program]
fn sliced<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
) -> dahl::Result<(Matrix<'s, T>, Matrix<'s, T>)> {
    let rows = slice_init(scope, x, 0, 3, 40)?;
    let (left, right) = (slice_init(scope, &rows, 1, 0, 80)?, slice_init(scope, &rows, 1, 80, 80)?);
    let sum = relu_init(scope, &add_init(scope, &left, &right)?)?;
    let corner = slice_init(scope, &transpose_init(scope, &rows)?, 0, 7, 20)?;
    Ok((mul_init(scope, &sum, &left)?, corner))
}

#[test]
fn slices_are_read_where_they_were() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = array::<f32, 2>(&rt, [50, 160])?;
    let mut results = Vec::new();
    for (passes, tasks) in PASSES.into_iter().zip([8, 4, 2]) {
        let mut program = Sliced::new(&rt).passes(passes);
        for _ in 0..2 {
            let (product, corner) = program.call(&x)?;
            results.push((bits(&product)?, bits(&corner)?));
        }
        assert_eq!(program.graph().tasks(), tasks, "{}", program.graph());
        if passes != Passes::none() {
            let report = program.explain().iter().map(ToString::to_string).collect::<String>();
            assert!(report.contains("reads a slice where it was"), "{report}");
            assert!(report.contains("reads what another task has moved where it was"), "{report}");
        }
    }
    assert!(results.iter().all(|result| *result == results[0]));
    Ok(())
}

/// A concatenation whose slices are what was joined, partly and wholly, and one of all slices of an array; another one has them
/// in another order.
#[allow(clippy::type_complexity, reason = "a program returns a tuple of its arrays")]
#[program]
fn joined<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    y: &Matrix<'_, T>,
) -> dahl::Result<(Matrix<'s, T>, Matrix<'s, T>, Matrix<'s, T>, Matrix<'s, T>)> {
    let both = concat_init(scope, &[x, y], 1)?;
    let whole = neg_init(scope, &slice_init(scope, &both, 1, 70, 70)?)?;
    let part = neg_init(scope, &slice_init(scope, &both, 1, 75, 64)?)?;
    let (left, right) = (slice_init(scope, x, 1, 0, 30)?, slice_init(scope, x, 1, 30, 40)?);
    let again = neg_init(scope, &concat_init(scope, &[&left, &right], 1)?)?;
    let turned = neg_init(scope, &concat_init(scope, &[&right, &left], 1)?)?;
    Ok((whole, part, again, turned))
}

#[test]
fn slices_of_concatenations_and_concatenations_of_slices_go_away() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, y) = (array::<f64, 2>(&rt, [6, 70])?, array::<f64, 2>(&rt, [6, 70])?);
    let mut results = Vec::new();
    // The negatives; and of the last concatenation the slices, the copies, too.
    for (passes, tasks) in PASSES.into_iter().zip([14, 8, 8]) {
        let mut program = Joined::new(&rt).passes(passes);
        for _ in 0..2 {
            let (whole, part, again, turned) = program.call(&x, &y)?;
            results.push([bits(&whole)?, bits(&part)?, bits(&again)?, bits(&turned)?]);
        }
        assert!(program.graph().tasks() <= tasks, "{}", program.graph());
    }
    assert!(results.iter().all(|result| *result == results[0]));
    Ok(())
}

/// What is moved changes after the move: who reads the output must not read the new value.
#[program]
fn changed<'s, T: Real>(scope: &'s Recording<'_>, x: &mut Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
    let turned = transpose_init(scope, &*x)?;
    dahl::ops::neg_self(x)?;
    add_init(scope, &transpose_init(scope, &turned)?, &*x)
}

#[test]
fn what_changes_is_not_read_later() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    for passes in PASSES {
        let mut x = array::<f32, 2>(&rt, [5, 3])?;
        let mut program = Changed::new(&rt).passes(passes);
        for _ in 0..2 {
            assert!(program.call(&mut x)?.to_vec()?.iter().all(|&sum| sum == 0.0));
        }
    }
    Ok(())
}

/// A branch reads the output of a move that is an array that is there; and a part of a partition is changed by a branch after
/// the copy.
#[program]
fn branched<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Array<'_, T, 3>,
    m: &Matrix<'_, T>,
) -> dahl::Result<(Array<'s, T, 3>, Matrix<'s, T>)> {
    let back = permute_init(scope, &permute_init(scope, x, [1, 2, 0])?, [2, 0, 1])?;
    let condition = sum_init(scope, m)?;
    let mut out = neg_init(scope, x)?;
    scope.branch(&condition, |_, _| add_self(&mut out, &back))?;
    let mut whole = neg_init(scope, m)?;
    {
        let mut parts = whole.partition_mut(Axis(1), 70)?;
        let half = slice_init(scope, m, 1, 0, 70)?;
        dahl::ops::copy(&half, &mut parts[0])?;
        dahl::ops::copy(&half, &mut parts[1])?;
        scope.branch(&condition, |_, _| dahl::ops::neg_self(&mut parts[0]))?;
    }
    Ok((out, neg_init(scope, &slice_init(scope, &whole, 1, 0, 70)?)?))
}

/// What is moved is read in another shape, and moved again.
#[program]
fn in_another_shape<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Array<'_, T, 3>,
) -> dahl::Result<(Array<'s, T, 3>, Array<'s, T, 3>)> {
    // Two maps of one shape, of which one reads the other's output in another order.
    let square = relu_init(scope, &slice_init(scope, x, 1, 2, 2)?)?;
    let other_order = neg_init(scope, &permute_init(scope, &square, [1, 0, 2])?)?;
    let slice = slice_init(scope, x, 1, 0, 3)?;
    let turned = permute_init(scope, &*slice.reshaped([3, 2, 64])?, [1, 0, 2])?;
    Ok((neg_init(scope, &turned)?, other_order))
}

#[test]
fn branches_and_other_shapes_read_what_was_moved() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let (x, m) = (array::<f32, 3>(&rt, [3, 4, 5])?, array::<f32, 2>(&rt, [6, 140])?);
    let wide = array::<f32, 3>(&rt, [2, 5, 64])?;
    let mut results = Vec::new();
    for passes in PASSES {
        let mut branched = Branched::new(&rt).passes(passes);
        let mut in_another_shape = InAnotherShape::new(&rt).passes(passes);
        for _ in 0..2 {
            let (out, half) = branched.call(&x, &m)?;
            let (turned, other_order) = in_another_shape.call(&wide)?;
            results.push([bits(&out)?, bits(&half)?, bits(&turned)?, bits(&other_order)?]);
        }
    }
    let sum: f64 = m.to_vec()?.into_iter().map(f64::from).sum();
    assert!(sum.abs() > 1.0, "the condition holds");
    for (run, result) in results.iter().enumerate() {
        for (part, (own, first)) in result.iter().zip(&results[0]).enumerate() {
            assert!(own == first, "result {part} of run {run}");
        }
    }
    assert!(results[0][0].iter().all(|&bits| f64::from_bits(bits) == 0.0), "x and its negative");
    Ok(())
}
