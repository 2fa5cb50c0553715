//! Checkpoints: the same bits, with less memory.

use super::*;

/// A layer: six tasks with intermediate results.
fn layer<'s>(scope: &'s Tape<'_>, x: &Matrix<'_, f32>, weight: &Matrix<'_, f32>) -> Result<Matrix<'s, f32>> {
    let h = tanh_init(scope, &matmul_init(scope, x, weight)?)?;
    let joined = concat_init(scope, &[&h, x], 1)?;
    let parts = split_init(scope, &joined, 1, &[16, 16])?;
    tanh_init(scope, &add_init(scope, &parts[0], &parts[1])?)
}

fn bits(rt: &Runtime, with_checkpoints: bool) -> Result<([Vec<u32>; 2], usize)> {
    let (arena, tape) = (rt.arena(), rt.tape());
    let numbers = |seed: f32| -> Vec<f32> { (0..256).map(|i| (i as f32 * seed).sin() * 0.3).collect() };
    let x = arena.from_slice([16, 16], &numbers(0.71))?;
    let weight = arena.from_slice([16, 16], &numbers(1.37))?;
    let mut h = layer(&tape, &x, &weight)?;
    for _ in 0..8 {
        h = match with_checkpoints {
            true => tape.checkpoint(|scope| layer(scope, &h, &weight))?,
            false => layer(&tape, &h, &weight)?,
        };
    }
    let bytes = tape.detached().used_bytes();
    let (by_x, by_weight) = tape.gradients(&sum_init(&tape, &h)?, (&x, &weight))?;
    let bits = |array: Matrix<'_, f32>| Ok(array.to_vec()?.into_iter().map(f32::to_bits).collect());
    Ok(([bits(by_x)?, bits(by_weight)?], bytes))
}

#[test]
fn the_same_bits_with_less_memory() -> Result<()> {
    let rt = runtime()?;
    let ([x, weight], bytes) = bits(&rt, false)?;
    let ([x_again, weight_again], fewer_bytes) = bits(&rt, true)?;
    assert_eq!((x, weight), (x_again, weight_again));
    assert!(fewer_bytes * 4 < bytes, "{fewer_bytes} and {bytes} bytes");
    Ok(())
}

#[test]
fn a_checkpoint_in_a_checkpoint() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[0.5_f64, -1.0])?;
    let y = tape.checkpoint(|tape| {
        let square = tape.checkpoint(|tape| mul_init(tape, &x, &x))?;
        mul_init(tape, &square, &x)
    })?;
    let by_x = tape.gradients(&sum_init(&tape, &y)?, &x)?;
    assert_near(&by_x.to_vec()?, &[0.75, 3.0]);
    Ok(())
}

#[test]
fn what_it_reads_must_keep_its_value() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let mut x = arena.from_slice([2], &[0.5_f64, -1.0])?;
    // Without the checkpoint a sum would read nothing.
    let y = tape.checkpoint(|tape| tanh_init(tape, &add_init(tape, &x, &x)?))?;
    let loss = sum_init(&tape, &y)?;
    let before = tape.gradients(&loss, &x)?.to_vec()?;
    assert_near(&before, &[0.5_f64, -1.0].map(|x| 2.0 * (1.0 - (2.0 * x).tanh().powi(2))));
    scale_self(&mut x, 2.0)?;
    let error = tape.gradients(&loss, &x).map(drop).expect_err("it was overwritten");
    assert_eq!(error.code(), "D0016", "{error}");
    Ok(())
}

#[test]
fn no_gradients_inside() -> Result<()> {
    let rt = runtime()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[0.5_f64, -1.0])?;
    let result = tape.checkpoint(|tape| {
        let loss = sum_init(tape, &x)?;
        tape.gradients(&loss, &x)
    });
    assert_eq!(result.map(drop).expect_err("nothing is kept").code(), "D0023");
    Ok(())
}

#[test]
fn gradients_of_gradients_through_a_checkpoint() -> Result<()> {
    let rt = runtime()?;
    let (arena, outer) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2, 2], &[0.5_f64, -1.0, 2.0, 0.25])?;
    let inner = outer.tape();
    let cube = inner.checkpoint(|tape| matmul_init(tape, &matmul_init(tape, &x, &x)?, &x))?;
    let first = inner.gradients(&sum_init(&inner, &cube)?, &x)?;
    let second = outer.gradients(&sum_init(&outer, &first)?, &x)?.to_vec()?;
    // By differences.
    let first_at = |values: &[f64]| -> Result<f64> {
        let (arena, tape) = (rt.arena(), rt.tape());
        let x = arena.from_slice([2, 2], values)?;
        let cube = matmul_init(&tape, &matmul_init(&tape, &x, &x)?, &x)?;
        Ok(tape.gradients(&sum_init(&tape, &cube)?, &x)?.to_vec()?.iter().sum())
    };
    let values = x.to_vec()?;
    for (index, second) in second.iter().enumerate() {
        let at = |step: f64| {
            let mut values = values.clone();
            values[index] += step;
            first_at(&values)
        };
        let difference = (at(1e-3)? - at(-1e-3)?) / 2e-3;
        assert!((second - difference).abs() < 1e-6, "{index}: {second} is not {difference}");
    }
    Ok(())
}
