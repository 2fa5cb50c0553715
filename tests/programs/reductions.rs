//! Sums that join the maps before them: the same bits in every type, less memory, and why one stays apart.

use dahl::ops::{add_init, exp_init, mul_init, neg_init, relu_init, sub_init, sum, sum_init};
use dahl::prelude::*;

/// `sum((x row - col)^2)`, and `sum(relu(x))` added to `total`.
#[program]
fn sums<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    row: &Matrix<'_, T>,
    col: &Matrix<'_, T>,
    total: &mut Scalar<'_, T>,
) -> dahl::Result<Scalar<'s, T>> {
    let apart = sub_init(scope, &mul_init(scope, x, row)?, col)?;
    let squares = mul_init(scope, &apart, &apart)?;
    sum(&relu_init(scope, x)?, total)?;
    sum_init(scope, &squares)
}

fn check<T: Real>([rows, cols]: [usize; 2], value: impl Fn(usize) -> f64) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let value = |i: usize| T::from_f64(value(i));
    let array = |shape: [usize; 2]| rt.from_vec(shape, (0..shape[0] * shape[1]).map(value).collect());
    let (x, row, col) = (array([rows, cols])?, array([1, cols])?, array([rows, 1])?);
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().reductions(true), Passes::all()] {
        let mut program = Sums::new(&rt).passes(passes);
        let mut total = rt.from_vec([], vec![value(3)])?;
        for _ in 0..2 {
            let squares = program.call(&x, &row, &col, &mut total)?;
            let bits = |value: Vec<T>| value[0].to_f64().to_bits();
            results.push((bits(squares.to_vec()?), bits(total.to_vec()?)));
        }
    }
    assert_eq!(results[..2], results[2..4], "{} of {rows} x {cols}", T::NAME);
    assert_eq!(results[..2], results[4..], "{} of {rows} x {cols}", T::NAME);
    Ok(())
}

#[test]
fn sums_join_maps_with_the_same_bits_in_every_type() -> dahl::Result<()> {
    // Below a block, whole blocks, blocks and a rest, many tiles; rows that are no multiple of a tile, and longer than one.
    let shapes =
        [[0, 3], [1, 1], [1, 1023], [32, 32], [37, 41], [64, 128], [150, 150], [3, 30_001], [1000, 77]];
    let value = |i: usize| (i * 7919 % 4001) as f64 / 1000.3 - 2.0;
    for shape in shapes {
        check::<f16>(shape, value)?;
        check::<bf16>(shape, value)?;
        check::<f32>(shape, value)?;
        check::<f64>(shape, value)?;
    }
    Ok(())
}

#[test]
fn sums_of_zeros_have_the_same_sign() -> dahl::Result<()> {
    for shape in [[1, 1], [40, 60], [64, 64]] {
        check::<f32>(shape, |_| -0.0)?;
        check::<f32>(shape, |_| 0.0)?;
        check::<f64>(shape, |i| if i % 5 == 0 { 0.0 } else { -0.0 })?;
    }
    Ok(())
}

/// `sum(exp(x) x)`.
#[program]
fn weighted<'s, T: Real>(scope: &'s Recording<'_>, x: &Vector<'_, T>) -> dahl::Result<Scalar<'s, T>> {
    sum_init(scope, &mul_init(scope, &exp_init(scope, x)?, x)?)
}

#[test]
fn a_sum_of_maps_needs_no_memory() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([100_000], (0..100_000).map(|i| (i % 77) as f32 / 50.0).collect())?;
    let mut peaks = Vec::new();
    for (passes, tasks) in [(Passes::none(), 3), (Passes::all().reductions(false), 2), (Passes::all(), 1)] {
        let mut program = Weighted::new(&rt).passes(passes);
        program.call(&x)?.to_vec()?;
        assert_eq!(program.graph().tasks(), tasks, "{}", program.graph());
        peaks.push(program.memory_plan().peak_bytes());
    }
    assert_eq!(peaks, [800_000, 400_000, 0]);
    Ok(())
}

/// Sums that others keep apart: their inputs are returned, read twice, or made from one of them.
#[allow(clippy::type_complexity, reason = "a program returns a tuple of its arrays")]
#[program]
fn shared<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Vector<'_, T>,
) -> dahl::Result<(Vector<'s, T>, Scalar<'s, T>, Scalar<'s, T>, Vector<'s, T>)> {
    let returned = neg_init(scope, x)?;
    let of_returned = sum_init(scope, &returned)?;
    let twice = relu_init(scope, x)?;
    let of_twice = sum_init(scope, &twice)?;
    let shifted = add_init(scope, &twice, &exp_init(scope, &twice)?)?;
    Ok((returned, of_returned, of_twice, shifted))
}

#[test]
fn a_sum_of_what_others_use_stays_apart_and_says_so() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([3], vec![1.0, -2.0, 4.0])?;
    let mut program = Shared::new(&rt).passes(Passes::none().reductions(true));
    let (returned, of_returned, of_twice, _) = program.call(&x)?;
    assert_eq!(returned.to_vec()?, [-1.0, 2.0, -4.0]);
    assert_eq!((of_returned.to_vec()?, of_twice.to_vec()?), (vec![-3.0], vec![5.0]));
    assert_eq!(program.graph().tasks(), 6);
    let report = program.explain()[0].to_string();
    assert_eq!(report.matches("stays apart: its input is also used otherwise").count(), 2, "{report}");
    Ok(())
}
