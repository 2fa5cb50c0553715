//! Maps that become one kernel.

use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, program};

use super::{graphs, in_seeds, numbers};

/// `y = relu(1.5 a x + b)`, with `b` a row or a column that is stretched, `silu(y) y`, and the difference of both.
#[program]
fn forward<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Matrix<'_, T>,
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
) -> Result<(Matrix<'s, T>, Matrix<'s, T>, Matrix<'s, T>)> {
    let y = relu_init(
        scope,
        &add_init(scope, &scale_init(scope, &mul_init(scope, a, x)?, T::from_f64(1.5))?, b)?,
    )?;
    let z = mul_init(scope, &silu_init(scope, &y)?, &y)?;
    let apart = sub_init(scope, &y, &z)?;
    Ok((y, z, apart))
}

fn forward_by_task<T: Real>(
    rt: &Runtime,
    x: &Matrix<'_, T>,
    a: &Matrix<'_, T>,
    b: &Matrix<'_, T>,
) -> Result<(Vec<T>, Vec<T>, Vec<T>)> {
    let arena = rt.arena();
    let product = scale_init(&arena, &mul_init(&arena, a, x)?, T::from_f64(1.5))?;
    let y = relu_init(&arena, &add_init(&arena, &product, b)?)?;
    let z = mul_init(&arena, &silu_init(&arena, &y)?, &y)?;
    let apart = sub_init(&arena, &y, &z)?;
    Ok((y.to_vec()?, z.to_vec()?, apart.to_vec()?))
}

fn maps_are_one_kernel<T: Real>(shape: [usize; 2], b_shape: [usize; 2]) {
    in_seeds(0..2, |rt, _| {
        let mut forward = Forward::new(rt);
        let b = rt.from_vec(b_shape, numbers::<T>(b_shape.iter().product(), 5))?;
        let array = |seed| rt.from_vec(shape, numbers::<T>(shape.iter().product(), seed));
        let a = array(1)?;
        for call in 0..2 {
            let x = array(10 + call)?;
            let expected = forward_by_task(rt, &x, &a, &b)?;
            let (y, z, apart) = forward.call(&x, &a, &b)?;
            assert_eq!((y.to_vec()?, z.to_vec()?, apart.to_vec()?), expected, "call {call}");
        }
        let reports =
            forward.explain().iter().map(|report| report.to_string()).collect::<Vec<_>>().join("\n");
        assert!(reports.contains("fusion: 1 tasks, 7 before"), "{reports}");
        assert!(reports.contains("mul+scale+add+relu+silu+mul+sub"), "{reports}");
        // The device has run it, as a graph of one kernel.
        assert_eq!(graphs(rt).launches, 2, "{reports}");
        Ok(())
    });
}

#[test]
fn contiguous_maps_are_one_kernel() {
    maps_are_one_kernel::<f32>([5, 67], [5, 67]);
    maps_are_one_kernel::<f16>([3, 40], [3, 40]);
}

#[test]
fn stretched_inputs_are_read_by_a_fused_kernel() {
    maps_are_one_kernel::<f64>([5, 67], [1, 67]);
    maps_are_one_kernel::<bf16>([5, 67], [5, 1]);
}

/// What is no map with a kernel in CUDA stays apart, and the rest is fused.
#[program]
fn with_sums<'s>(scope: &'s Recording<'_>, x: &Vector<'_, f32>) -> Result<Vector<'s, f32>> {
    let y = neg_init(scope, &square_init(scope, x)?)?;
    let sum = cumulative_sum_init(scope, &y, 0)?;
    abs_init(scope, &scale_init(scope, &sum, 0.5)?)
}

#[test]
fn a_task_that_is_no_map_stays_apart() {
    in_seeds(0..1, |rt, _| {
        let mut program = WithSums::new(rt);
        let x = rt.from_vec([4], vec![1.0, 2.0, 3.0, 4.0])?;
        assert_eq!(program.call(&x)?.to_vec()?, [0.5, 2.5, 7.0, 15.0]);
        let reports =
            program.explain().iter().map(|report| report.to_string()).collect::<Vec<_>>().join("\n");
        assert!(reports.contains("fusion: 3 tasks, 5 before"), "{reports}");
        Ok(())
    });
}
