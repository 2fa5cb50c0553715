//! Tapes: what is remembered, what a reverse pass gives, and what is refused.

mod checkpoint;
mod data_movement;
mod declared;
mod errors;
mod mutants;
mod random;
mod rules;
mod stretched;

use dahl::Result;
use dahl::ops::*;
use dahl::prelude::*;

fn runtime() -> Result<Runtime> {
    Runtime::builder().cpu_workers(2).build()
}

/// Asserts that two lists of numbers agree to `1e-12`.
#[track_caller]
fn assert_near(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len());
    for (index, (a, b)) in actual.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{index}: {a} is not {b}");
    }
}

#[test]
fn contributions_of_several_uses_are_added() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([3], &[1.0_f64, -2.0, 0.5])?;
    // x * x + x * x * x + x
    let square = mul_init(&tape, &x, &x)?;
    let cube = mul_init(&tape, &square, &x)?;
    let sum = add_init(&tape, &add_init(&tape, &square, &cube)?, &x)?;
    let loss = sum_init(&tape, &sum)?;
    let by_x = tape.gradients(&loss, &x)?.to_vec()?;
    assert_near(&by_x, &[1.0, -2.0, 0.5].map(|x: f64| 2.0 * x + 3.0 * x * x + 1.0));
    Ok(())
}

#[test]
fn a_detached_value_is_a_constant() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[3.0_f64, -4.0])?;
    let weight = mul_init(tape.detached(), &x, &x)?;
    let loss = sum_init(&tape, &mul_init(&tape, &weight, &x)?)?;
    assert_near(&tape.gradients(&loss, &x)?.to_vec()?, &[9.0, 16.0]);
    Ok(())
}

#[test]
fn a_tape_in_a_loop_trains() -> Result<()> {
    // The line y = 2 x - 1 through four points, by gradient descent.
    let rt = runtime()?;
    let arena = rt.arena();
    let x = arena.from_slice([4, 1], &[-1.0_f64, 0.0, 1.0, 2.0])?;
    let y = arena.from_slice([4, 1], &[-3.0_f64, -1.0, 1.0, 3.0])?;
    let mut weight = arena.from_slice([1, 1], &[0.0_f64])?;
    let mut bias_of_all = arena.from_slice([1], &[0.0_f64])?;
    let mut tape = rt.tape();
    for _ in 0..200 {
        let predicted = bias_init(&tape, &matmul_init(&tape, &x, &weight)?, &bias_of_all, 1)?;
        let loss = mean_squared_error_init(&tape, &predicted, &y, 0.25)?;
        let (by_weight, by_bias) = tape.gradients(&loss, (&weight, &bias_of_all))?;
        axpy_self(&by_weight, &mut weight, -0.3)?;
        axpy_self(&by_bias, &mut bias_of_all, -0.3)?;
        tape.reset();
    }
    assert!((weight.to_vec()?[0] - 2.0).abs() < 1e-9 && (bias_of_all.to_vec()?[0] + 1.0).abs() < 1e-9);
    Ok(())
}

/// The gradient of a loss in which most values are used several times.
fn gradient_bits(rt: &Runtime) -> Result<Vec<u32>> {
    let (arena, tape) = (rt.arena(), rt.tape());
    let values: Vec<f32> = (0..64).map(|i| (i as f32 * 0.37).sin()).collect();
    let x = arena.from_slice([8, 8], &values)?;
    let mut layers = vec![tanh_init(&tape, &x)?];
    for layer in 0..6 {
        let last = &layers[layer];
        let product = matmul_init(&tape, last, &x)?;
        let mixed = add_init(&tape, &product, &layers[layer / 2])?;
        layers.push(tanh_init(&tape, &add_init(&tape, &mixed, &x)?)?);
    }
    let loss = sum_init(&tape, layers.last().expect("seven layers"))?;
    let by_x = tape.gradients(&loss, &x)?;
    Ok(by_x.to_vec()?.into_iter().map(f32::to_bits).collect())
}

#[test]
fn gradients_have_the_same_bits_for_all_workers_and_schedulers() -> Result<()> {
    let expected = gradient_bits(&Runtime::builder().cpu_workers(1).build()?)?;
    for workers in 1..=4 {
        for scheduler in Runtime::schedulers().iter().filter(|name| **name != "static") {
            let rt = Runtime::builder().cpu_workers(workers).scheduler(scheduler).build()?;
            assert_eq!(gradient_bits(&rt)?, expected, "{workers} workers, {scheduler}");
        }
    }
    Ok(())
}

#[test]
fn accumulated_gradients_are_the_sum_over_the_parts_of_a_batch() -> Result<()> {
    let rt = runtime()?;
    let arena = rt.arena();
    let values: Vec<f64> = (0..24).map(|i| f64::from(i) * 0.25 - 2.0).collect();
    let weight = arena.from_slice([3, 2], &[1.0_f64, -1.0, 0.5, 2.0, 0.0, 1.5])?;
    let loss = |tape: &Tape<'_>, rows: &Matrix<'_, f64>, sum: &mut Matrix<'_, f64>| -> Result<()> {
        let loss = sum_init(tape, &tanh_init(tape, &matmul_init(tape, rows, &weight)?)?)?;
        tape.accumulate(&loss, (&weight, sum))
    };
    let mut whole = arena.zeros([3, 2])?;
    loss(&rt.tape(), &arena.from_slice([8, 3], &values)?, &mut whole)?;
    let mut of_parts = arena.zeros([3, 2])?;
    for rows in values.chunks(6) {
        loss(&rt.tape(), &arena.from_slice([2, 3], rows)?, &mut of_parts)?;
    }
    assert_near(&of_parts.to_vec()?, &whole.to_vec()?);
    Ok(())
}

#[test]
fn the_first_cause_of_a_failed_forward_poisons_the_gradients() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2, 3], &[1.0_f64; 6])?;
    let labels = arena.from_slice([2], &[1_u32, 7])?; // of three classes
    let loss = cross_entropy_init(&tape, &x, &labels, 1.0)?;
    let by_x = tape.gradients(&loss, &x)?;
    let error = by_x.to_vec().expect_err("a label is out of range").to_string();
    assert!(error.contains("cross_entropy"), "{error}");
    Ok(())
}

#[test]
fn gradients_twice_from_one_tape_are_equal() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[0.25_f64, 2.0])?;
    let y = exp_init(&tape, &x)?;
    let loss = sum_init(&tape, &mul_init(&tape, &y, &x)?)?;
    let first = tape.gradients(&loss, (&x, &y))?;
    let second = tape.gradients(&loss, (&x, &y))?;
    assert_eq!(first.0.to_vec()?, second.0.to_vec()?);
    assert_eq!(first.1.to_vec()?, x.to_vec()?);
    Ok(())
}

#[test]
fn a_gradient_that_passes_unchanged_can_be_written_by_its_owner() -> Result<()> {
    // The gradients by both inputs of a sum, and by the sum, are one array on the way.
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let (x, y) = (arena.from_slice([2], &[1.0_f64, 2.0])?, arena.from_slice([2], &[3.0_f64, 4.0])?);
    let sum = add_init(&tape, &x, &y)?;
    let loss = sum_init(&tape, &mul_init(&tape, &sum, &sum)?)?;
    let (mut by_x, mut by_y, by_sum) = tape.gradients(&loss, (&x, &y, &sum))?;
    scale_self(&mut by_x, 10.0)?;
    by_y.write()?[0] = -1.0;
    assert_eq!(by_x.to_vec()?, [80.0, 120.0]);
    assert_eq!(by_y.to_vec()?, [-1.0, 12.0]);
    assert_eq!(by_sum.to_vec()?, [8.0, 12.0]);
    Ok(())
}
