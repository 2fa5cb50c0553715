//! Fused maps: any shapes that stretch, several tiles, arrays that others read too.

use dahl::ops::{add_init, exp_init, matmul_init, mul_init, relu_init, sub_init};
use dahl::prelude::*;

/// `exp(x row) + relu(x col - row)`; the second summand is also multiplied by a matrix.
#[program]
fn stretched<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    row: &Matrix<'_, T>,
    col: &Matrix<'_, T>,
) -> dahl::Result<(Matrix<'s, T>, Matrix<'s, T>)> {
    let grown = exp_init(scope, &mul_init(scope, x, row)?)?;
    let cut = relu_init(scope, &sub_init(scope, &mul_init(scope, x, col)?, row)?)?;
    Ok((add_init(scope, &grown, &cut)?, matmul_init(scope, &cut, &cut)?))
}

fn check<T: Real>(n: usize) -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let value = |i: usize| T::from_f64((i * 37 % 101) as f64 / 50.0 - 1.0);
    let array = |shape: [usize; 2]| rt.from_vec(shape, (0..shape[0] * shape[1]).map(value).collect());
    let (x, row, col) = (array([n, n])?, array([1, n])?, array([n, 1])?);
    let mut results = Vec::new();
    for passes in [Passes::none(), Passes::none().fusion(true)] {
        let mut program = Stretched::new(&rt).passes(passes);
        for _ in 0..2 {
            let (sum, product) = program.call(&x, &row, &col)?;
            let bytes =
                |values: Vec<T>| values.iter().map(|value| value.to_f64().to_bits()).collect::<Vec<_>>();
            results.push((bytes(sum.to_vec()?), bytes(product.to_vec()?)));
        }
        let expected = if passes == Passes::none() { 7 } else { 2 };
        assert_eq!(program.graph().tasks(), expected, "{}", program.graph());
    }
    assert!(results.iter().all(|result| *result == results[0]), "fusion changes no bit");
    Ok(())
}

#[test]
fn stretched_operands_are_fused_in_every_type() -> dahl::Result<()> {
    for n in [1, 3, 64, 150] {
        check::<f16>(n)?;
        check::<bf16>(n)?;
        check::<f32>(n)?;
        check::<f64>(n)?;
    }
    Ok(())
}

/// What is between two maps must not end inside of their task.
#[program]
fn around<'s, T: Real>(scope: &'s Recording<'_>, x: &Matrix<'_, T>) -> dahl::Result<Matrix<'s, T>> {
    let inner = relu_init(scope, x)?;
    let product = matmul_init(scope, &inner, x)?;
    add_init(scope, &inner, &product)
}

#[test]
fn maps_around_another_task_stay_apart() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let x = rt.from_vec([2, 2], vec![1.0, -2.0, 3.0, 4.0])?;
    for (passes, tasks) in [(Passes::all().epilogues(false), 3), (Passes::all(), 2)] {
        let mut program = Around::new(&rt).passes(passes);
        assert_eq!(program.call(&x)?.to_vec()?, [2.0, -2.0, 18.0, 14.0]);
        assert_eq!(program.graph().tasks(), tasks, "{}", program.graph());
    }
    Ok(())
}
