//! Maps that overwrite an input which nobody reads after them.

use dahl::ops::{add_init, exp_init, matmul_init, mul_init, relu_init};
use dahl::prelude::*;

/// Three layers: each rectifier can overwrite its product, and the last one writes the result.
#[program]
fn layers<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    weights: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'s, T>> {
    let mut y = matmul_init(scope, x, weights)?;
    for _ in 0..3 {
        y = relu_init(scope, &matmul_init(scope, &y, weights)?)?;
    }
    Ok(y)
}

/// The bits of a result.
fn bits<T: Real, const N: usize>(array: &Array<'_, T, N>) -> dahl::Result<Vec<u64>> {
    Ok(array.to_vec()?.iter().map(|value| value.to_f64().to_bits()).collect())
}

fn check_layers<T: Real>() -> dahl::Result<()> {
    const N: usize = 48;
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let array = |seed: usize| {
        let value = |i: usize| T::from_f64(((i + seed) * 37 % 101) as f64 / 350.0 - 0.14);
        rt.from_vec([N, N], (0..N * N).map(value).collect())
    };
    let (x, weights) = (array(0)?, array(5)?);
    let mut results = Vec::new();
    for (passes, arrays, overwritten) in [
        (Passes::none(), 6, 0),
        (Passes::none().in_place(true), 3, 3),
        (Passes::all().epilogues(false), 3, 3),
    ] {
        let mut program = Layers::new(&rt).passes(passes);
        for _ in 0..3 {
            results.push(bits(&program.call(&x, &weights)?)?);
        }
        assert_eq!(program.graph().tasks(), 7);
        let plan = program.memory_plan();
        assert_eq!(plan.sum_bytes(), arrays * N * N * size_of::<T>(), "{passes:?}: {plan}");
        let notes = program.explain().iter().flat_map(|report| &report.notes);
        let notes =
            notes.filter(|note| note.starts_with("relu of ") && note.ends_with("overwrites an input"));
        assert_eq!(notes.count(), overwritten, "{passes:?}");
    }
    assert!(results.iter().all(|result| *result == results[0]), "updates in place change no bit");
    Ok(())
}

#[test]
fn maps_overwrite_products_in_every_type() -> dahl::Result<()> {
    check_layers::<f16>()?;
    check_layers::<bf16>()?;
    check_layers::<f32>()?;
    check_layers::<f64>()
}

/// Only the sum may overwrite its first input: what `exp` and `relu` read, the other one may read after them, the second
/// square is of one array twice, and the inputs of the others are arguments, or smaller than the output.
#[program]
fn shared<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    row: &Matrix<'_, T>,
) -> dahl::Result<Matrix<'s, T>> {
    let product = matmul_init(scope, x, x)?;
    let (grown, cut) = (exp_init(scope, &product)?, relu_init(scope, &product)?);
    let sum = add_init(scope, &grown, &cut)?;
    let square = mul_init(scope, &sum, &sum)?;
    let stretched = mul_init(scope, &matmul_init(scope, row, x)?, &square)?;
    add_init(scope, x, &matmul_init(scope, &stretched, x)?)
}

#[test]
fn inputs_that_are_needed_are_kept() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2, 2], vec![0.5, -1.0, 0.25, 1.0])?;
    let row = rt.from_vec([1, 2], vec![1.0, -3.0])?;
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().in_place(true)] {
        let mut program = Shared::new(&rt).passes(passes);
        for _ in 0..3 {
            results.push(bits(&program.call(&x, &row)?)?);
        }
        let notes: Vec<_> = program.explain().iter().flat_map(|report| report.notes.clone()).collect();
        if passes == Passes::none() {
            assert!(notes.is_empty());
        } else {
            let (done, left): (Vec<_>, Vec<_>) =
                notes.iter().partition(|note| note.ends_with("overwrites an input"));
            assert!(matches!(&done[..], [only] if only.starts_with("add of ")), "{notes:?}");
            for why in ["another task may use its input after it", "reads its input twice", "is an argument"]
            {
                assert!(left.iter().any(|note| note.contains(why)), "{why}: {notes:?}");
            }
        }
    }
    assert!(results.iter().all(|result| *result == results[0]), "updates in place change no bit");
    assert_eq!(x.to_vec()?, [0.5, -1.0, 0.25, 1.0], "an argument is not overwritten");
    Ok(())
}

/// A constant is the same in each replay, so nothing overwrites it.
#[program]
fn constant<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f64>) -> dahl::Result<Vector<'s, f64>> {
    let constant = scope.arena().from_slice([2], &[1.0, -2.0])?;
    let cut = relu_init(scope, &constant)?;
    add_init(scope, &cut, x)
}

#[test]
fn constants_are_not_overwritten() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2], vec![10.0, 20.0])?;
    let mut program = Constant::new(&rt).passes(Passes::none().in_place(true));
    for _ in 0..3 {
        assert_eq!(program.call(&x)?.to_vec()?, [11.0, 20.0]);
    }
    let notes: Vec<_> = program.explain().iter().flat_map(|report| report.notes.clone()).collect();
    let overwrites = |note: &str| note.starts_with("add of ") && note.ends_with("overwrites an input");
    assert!(
        matches!(&notes[..], [kept, done] if kept.contains("its input is a constant") && overwrites(done)),
        "{notes:?}"
    );
    Ok(())
}
