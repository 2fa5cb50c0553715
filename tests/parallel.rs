//! Ops that use several cores: the bits are those of one core, for any number of workers, and small arrays use one
//! core.

use dahl::ndarray::Axis;
use dahl::ops::*;
use dahl::prelude::*;
use dahl::{Result, TeamPolicy};

/// Numbers between -2 and 2, whose sums depend on the order.
fn numbers<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64((i * 7919 % 4001) as f64 / 1000.3 - 2.0)).collect()
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// The results of the parallel ops, on large arrays and small ones.
fn results<T: Real>(rt: &Runtime) -> Result<Vec<Vec<u64>>> {
    let arena = rt.arena();
    let mut results = Vec::new();
    for (batch, inner, cols) in [(1, 784, 128), (131, 784, 128), (500, 301, 67)] {
        let a = arena.from_slice([batch, inner], &numbers::<T>(batch * inner))?;
        let b = arena.from_slice([inner, cols], &numbers::<T>(inner * cols))?;
        results.push(bits(&matmul_init(&arena, &a, &b)?.to_vec()?));
        let b = arena.from_slice([cols, inner], &numbers::<T>(inner * cols))?;
        results.push(bits(&matmul_transposed_init(&arena, &a, &b, Transposed::RIGHT)?.to_vec()?));
    }
    for batch in [1, 7] {
        let images = arena.from_slice([batch, 3, 20, 20], &numbers::<T>(batch * 1200))?;
        let filters = arena.from_slice([8, 3, 5, 5], &numbers::<T>(600))?;
        results.push(bits(
            &conv2d_init(&arena, &images, &filters, Conv2dGeometry::default().padding([2, 2]))?.to_vec()?,
        ));
    }
    for len in [10, 70_001] {
        let mut x = arena.from_slice([len], &numbers::<T>(len))?;
        results.push(bits(&exp_init(&arena, &x)?.to_vec()?));
        tanh_self(&mut x)?;
        results.push(bits(&x.to_vec()?));
    }
    // Parts whose rows are not contiguous.
    let mut x = arena.from_slice([300, 200], &numbers::<T>(60_000))?;
    {
        let mut parts = x.partition_mut(Axis(1), 2)?;
        parts.iter_mut().try_for_each(|part| exp_self(part))?;
    }
    results.push(bits(&x.to_vec()?));
    results.extend(of_rows::<T>(rt)?);
    results.extend(of_parts::<T>(rt)?);
    results.extend(of_convolutions::<T>(rt)?);
    Ok(results)
}

/// Rows that are normalised between maps: one task, which the runtime divides.
#[program]
fn normed<'s, T: Real>(
    scope: &'s Recording<'_>,
    x: &Array<'_, T, 3>,
    row: &Array<'_, T, 3>,
    weight: &Vector<'_, T>,
) -> dahl::Result<Array<'s, T, 3>> {
    let sum = add_init(scope, &add_init(scope, x, row)?, x)?;
    relu_init(scope, &layer_norm_init(scope, &sum, weight, weight, 1e-5)?)
}

/// Those of operations whose calls the runtime divides, and of sums of products in several blocks.
fn of_parts<T: Real>(rt: &Runtime) -> Result<Vec<Vec<u64>>> {
    let arena = rt.arena();
    let mut results = Vec::new();
    let x = arena.from_slice([12, 40, 96], &numbers::<T>(12 * 40 * 96))?;
    let row = arena.from_slice([1, 1, 96], &numbers::<T>(96))?;
    results.push(bits(&gelu_tanh_init(&arena, &x)?.to_vec()?));
    results.push(bits(&add_init(&arena, &x, &row)?.to_vec()?));
    let mut changed = arena.from_slice([12, 40, 96], &numbers::<T>(12 * 40 * 96))?;
    mul_self(&mut changed, &row)?;
    results.push(bits(&changed.to_vec()?));
    results.push(bits(&sum_axis_init(&arena, &x, 1)?.to_vec()?));
    results.push(bits(&sum_axis_init(&arena, &x, 2)?.to_vec()?));
    let weight = arena.from_slice([96], &numbers::<T>(96))?;
    let mut normed = Normed::new(rt);
    results.push(bits(&normed.call(&x, &row, &weight)?.to_vec()?));
    let (query, key, value) = split_heads_init(&arena, &x, Heads::new(4))?;
    results.push(bits(&join_heads_init(&arena, &query, &value, &key)?.to_vec()?));
    let gates = arena.from_slice([45, 4 * 130], &numbers::<T>(45 * 520))?;
    let cell = arena.from_slice([45, 130], &numbers::<T>(45 * 130))?;
    let (hidden, next) = lstm_cell_init(&arena, &gates, &cell)?;
    results.push(bits(&hidden.to_vec()?));
    results.push(bits(&next.to_vec()?));
    let images = arena.from_slice([30, 6, 24, 25], &numbers::<T>(30 * 6 * 600))?;
    let (weight, bias) = (arena.from_slice([6], &numbers::<T>(6))?, arena.from_slice([6], &numbers::<T>(6))?);
    let epsilon = T::from_f64(1e-3);
    let (out, mean, variance) = batch_norm_init(&arena, &images, &weight, &bias, epsilon)?;
    let (by_input, by_weight, by_bias) = batch_norm_backward_init(&arena, &images, &weight, &out, epsilon)?;
    let grouped = group_norm_init(&arena, &images, &weight, &bias, 2, epsilon)?;
    let of_groups = group_norm_backward_init(&arena, &images, &weight, &grouped, 2, epsilon)?;
    for array in [&out, &by_input, &grouped, &of_groups.0] {
        results.push(bits(&array.to_vec()?));
    }
    for array in [&mean, &variance, &by_weight, &by_bias, &of_groups.1, &of_groups.2] {
        results.push(bits(&array.to_vec()?));
    }
    for [rows, inner, cols] in [[1100, 20, 600], [30, 600, 1030]] {
        let a = arena.from_slice([rows, inner], &numbers::<T>(rows * inner))?;
        let b = arena.from_slice([inner, cols], &numbers::<T>(inner * cols))?;
        results.push(bits(&matmul_add_init(&arena, &a, &b)?.to_vec()?));
        results.push(bits(&matmul_init(&arena, &a, &b)?.to_vec()?));
    }
    Ok(results)
}

/// Those of operations by rows, which the cores share in several parts. The last part has fewer rows.
fn of_rows<T: Real>(rt: &Runtime) -> Result<Vec<Vec<u64>>> {
    let arena = rt.arena();
    let mut results = Vec::new();
    for (rows, extent) in [(300, 700), (40, 5000)] {
        let x = arena.from_slice([rows, extent], &numbers::<T>(rows * extent))?;
        let y = arena.from_vec([rows, extent], numbers::<T>(rows * extent + 7).split_off(7))?;
        let weight = arena.from_slice([extent], &numbers::<T>(extent))?;
        let labels = arena.from_vec([rows], (0..rows).map(|i| (i * 7 % extent) as u32).collect())?;
        let shares = softmax_init(&arena, &x, 1)?;
        for out in [
            &softmax_init(&arena, &x, 0)?,
            &softmax_backward_init(&arena, &shares, &y, 1)?,
            &layer_norm_init(&arena, &x, &weight, &weight, 1e-5)?,
            &layer_norm_backward_input_init(&arena, &x, &weight, &y, 1e-5)?,
            &rms_norm_init(&arena, &x, &weight, 1e-5)?,
            &cross_entropy_backward_init(&arena, &x, &labels, 0.5)?,
            &shares,
        ] {
            results.push(bits(&out.to_vec()?));
        }
        results.push(bits(&layer_norm_backward_weight_init(&arena, &x, &y, 1e-5)?.to_vec()?));
        results.push(bits(&cross_entropy_init(&arena, &x, &labels, 0.5)?.to_vec()?));
    }
    // Lines along an inner axis.
    let x = arena.from_slice([4, 50, 700], &numbers::<T>(140_000))?;
    results.push(bits(&softmax_init(&arena, &x, 1)?.to_vec()?));
    Ok(results)
}

/// Those of convolutions of more images than one group has.
fn of_convolutions<T: Real>(rt: &Runtime) -> Result<Vec<Vec<u64>>> {
    let arena = rt.arena();
    let mut results = Vec::new();
    let images = arena.from_slice([131, 4, 9, 9], &numbers::<T>(131 * 324))?;
    let filters = arena.from_slice([6, 4, 3, 3], &numbers::<T>(216))?;
    let gradient = arena.from_slice([131, 6, 7, 7], &numbers::<T>(131 * 294))?;
    let mut by_images = arena.zeros([131, 4, 9, 9])?;
    conv2d_backward_input(&gradient, &filters, &mut by_images, Conv2dGeometry::default())?;
    results.push(bits(&by_images.to_vec()?));
    let mut by_filters = arena.zeros([6, 4, 3, 3])?;
    conv2d_backward_filters(&images, &gradient, &mut by_filters, Conv2dGeometry::default())?;
    results.push(bits(&by_filters.to_vec()?));
    let (geometry, filters) =
        (ConvolutionGeometry::default().groups(2), arena.from_slice([6, 2, 3, 3], &numbers::<T>(108))?);
    results.push(bits(&convolution_init(&arena, &images, &filters, geometry)?.to_vec()?));
    results.push(bits(
        &convolution_backward_input_init(&arena, &gradient, &filters, [9, 9], geometry)?.to_vec()?,
    ));
    results.push(bits(
        &convolution_backward_filters_init(&arena, &images, &gradient, [3, 3], geometry)?.to_vec()?,
    ));
    Ok(results)
}

fn same_bits<T: Real>() -> Result<()> {
    let expected = results::<T>(&Runtime::builder().cpu_workers(1).teams(TeamPolicy::Never).build()?)?;
    for workers in 1..=4 {
        for teams in [TeamPolicy::Always, TeamPolicy::Measured] {
            let rt = Runtime::builder().cpu_workers(workers).teams(teams).build()?;
            for round in 0..3 {
                let results = results::<T>(&rt)?;
                for (index, (result, expected)) in results.iter().zip(&expected).enumerate() {
                    assert!(
                        result == expected,
                        "{}: result {index}, {workers} workers, round {round}",
                        T::NAME
                    );
                }
            }
        }
    }
    Ok(())
}

#[test]
fn f32_has_the_same_bits() -> Result<()> {
    same_bits::<f32>()
}

#[test]
fn f64_has_the_same_bits() -> Result<()> {
    same_bits::<f64>()
}

#[test]
fn bf16_has_the_same_bits() -> Result<()> {
    same_bits::<bf16>()
}

#[test]
fn each_footprint_has_a_choice_of_its_own() -> Result<()> {
    let rt = Runtime::builder().cpu_workers(2).build()?;
    let arena = rt.arena();
    let weights = arena.from_slice([784, 128], &numbers::<f32>(784 * 128))?;
    // The long ones first: forty short ones can end before the second worker's thread has started and is idle.
    for batch in [500, 1] {
        let images = arena.from_slice([batch, 784], &numbers::<f32>(batch * 784))?;
        for _ in 0..40 {
            matmul_init(&arena, &images, &weights)?;
            rt.wait()?;
        }
    }
    let choices = rt.kernel_choices();
    for batch in [1, 500] {
        let row = choices.rows.iter().find(|row| row.footprint[0] == [batch, 784]);
        let row = row.unwrap_or_else(|| panic!("no choice for a batch of {batch}: {choices}"));
        assert_eq!((row.codelet, row.kernel), ("matmul", Some("rust")));
        // Whether a worker was idle at the start of each task is left to chance.
        let trials = row.trials.iter().filter(|trial| !trial.late);
        let measured: Vec<_> = trials.map(|trial| (trial.team, trial.first_us.is_some())).collect();
        assert_eq!(measured, [(false, true), (true, true)], "{choices}");
    }
    Ok(())
}
