//! Third derivatives and higher ones, in closed form: by tapes inside of tapes.

use std::error::Error;

use dahl::ops::*;
use dahl::prelude::*;

use super::runtime;

/// Compares `values` with `expected`, up to a few roundings.
#[track_caller]
fn assert_near(values: &[f64], expected: impl IntoIterator<Item = f64>, what: &str) {
    for (i, (value, expected)) in values.iter().zip(expected).enumerate() {
        let near = (value - expected).abs() <= 1e-12 * expected.abs().max(1.0);
        assert!(near, "{what}, element {i}: {value} and not {expected}");
    }
}

/// The first three derivatives of a function of single elements.
macro_rules! derivatives {
    ($test:ident: |$tape:ident, $x:ident| $forward:expr, $first:expr, $second:expr, $third:expr) => {
        #[test]
        fn $test() -> Result<(), Box<dyn Error>> {
            let rt = runtime()?;
            let points = [-1.75, -0.5, 0.125, 0.8, 2.5];
            let arena = rt.arena();
            let $x = &arena.from_slice([5], &points)?;
            let outer = rt.tape();
            let middle = outer.tape();
            let inner = middle.tape();
            let $tape = &inner;
            let y = $forward?;
            let first = inner.gradients(&sum_init(&inner, &y)?, $x)?;
            let second = middle.gradients(&sum_init(&middle, &first)?, $x)?;
            let third = outer.gradients(&sum_init(&outer, &second)?, $x)?;
            let (first_of, second_of, third_of): (fn(f64) -> f64, fn(f64) -> f64, fn(f64) -> f64) =
                ($first, $second, $third);
            assert_near(&first.to_vec()?, points.map(first_of), "first");
            assert_near(&second.to_vec()?, points.map(second_of), "second");
            assert_near(&third.to_vec()?, points.map(third_of), "third");
            Ok(())
        }
    };
}

derivatives!(of_sine: |tape, x| sin_init(tape, x), f64::cos, |x| -x.sin(), |x| -x.cos());
derivatives!(of_exp: |tape, x| exp_init(tape, x), f64::exp, f64::exp, f64::exp);
derivatives!(
    of_the_cube: |tape, x| mul_init(tape, &mul_init(tape, x, x)?, x),
    |x| 3.0 * x * x,
    |x| 6.0 * x,
    |_| 6.0
);
derivatives!(
    of_sigmoid: |tape, x| sigmoid_init(tape, x),
    |x| {
        let y = 1.0 / (1.0 + (-x).exp());
        y * (1.0 - y)
    },
    |x| {
        let y = 1.0 / (1.0 + (-x).exp());
        y * (1.0 - y) * (1.0 - 2.0 * y)
    },
    |x| {
        let y = 1.0 / (1.0 + (-x).exp());
        y * (1.0 - y) * (1.0 - 6.0 * y + 6.0 * y * y)
    }
);

/// `out = amplitude * sin(x / T::PI) + offset` where `x` is above `limit`, else 0: its derivatives need the arguments and a
/// constant.
#[codelet(R, W)]
fn wave<T: Real>(x: T, amplitude: T, limit: f32, offset: T) -> T {
    if x.to_f64() > limit.to_f64() { amplitude * (x / T::PI).sin() + offset } else { T::ZERO }
}

derivatives!(
    of_a_map_with_arguments: |tape, x| wave_init(tape, x, 3.0, -1.0, 0.5),
    |x| if x > -1.0 { 3.0 * (x / std::f64::consts::PI).cos() / std::f64::consts::PI } else { 0.0 },
    |x| if x > -1.0 { -3.0 * (x / std::f64::consts::PI).sin() / std::f64::consts::PI.powi(2) } else { 0.0 },
    |x| if x > -1.0 { -3.0 * (x / std::f64::consts::PI).cos() / std::f64::consts::PI.powi(3) } else { 0.0 }
);

/// Each type of real numbers has its own derivatives of derived maps.
#[test]
fn in_every_type() -> Result<(), Box<dyn Error>> {
    fn second<T: Real>(rt: &Runtime) -> Result<(), Box<dyn Error>> {
        let points = [-0.5, 0.25, 1.0].map(T::from_f64);
        let arena = rt.arena();
        let x = arena.from_slice([3], &points)?;
        let outer = rt.tape();
        let inner = outer.tape();
        let two = T::from_f64(2.0);
        let y = wave_init(&inner, &x, two, -4.0, T::ONE)?;
        let first = inner.gradients(&sum_init(&inner, &y)?, &x)?;
        let second = outer.gradients(&sum_init(&outer, &first)?, &x)?;
        for (x, value) in points.into_iter().zip(second.to_vec()?) {
            let pi = std::f64::consts::PI;
            let expected = -2.0 * (x.to_f64() / pi).sin() / (pi * pi);
            let near = (value.to_f64() - expected).abs() <= 2.0 * T::EPSILON.to_f64() * expected.abs();
            assert!(near, "{}: {value} and not {expected}", T::NAME);
        }
        Ok(())
    }
    let rt = runtime()?;
    second::<f16>(&rt)?;
    second::<bf16>(&rt)?;
    second::<f32>(&rt)?;
    second::<f64>(&rt)
}

/// The fifth derivative of `x^5`, where programs are derivatives of derivatives of interpreted maps, and stretched operands:
/// `sum(a^5 * row)`.
#[test]
fn the_fifth_derivative_with_a_stretched_operand() -> Result<(), Box<dyn Error>> {
    let rt = runtime()?;
    let arena = rt.arena();
    let x = arena.from_slice([2, 3], &[1.0, -2.0, 0.5, 3.0, 0.25, -1.0])?;
    let row = arena.from_slice([1, 3], &[2.0, -1.0, 0.5])?;
    let tapes = rt.tape();
    let second = tapes.tape();
    let third = second.tape();
    let fourth = third.tape();
    let inner = fourth.tape();
    let square = mul_init(&inner, &x, &x)?;
    let fifth_power = mul_init(&inner, &mul_init(&inner, &square, &square)?, &x)?;
    let y = mul_init(&inner, &fifth_power, &row)?;
    let first_derivative = inner.gradients(&sum_init(&inner, &y)?, &x)?;
    let second_derivative = fourth.gradients(&sum_init(&fourth, &first_derivative)?, &x)?;
    let third_derivative = third.gradients(&sum_init(&third, &second_derivative)?, &x)?;
    let fourth_derivative = second.gradients(&sum_init(&second, &third_derivative)?, &x)?;
    let (fifth, by_row) = tapes.gradients(&sum_init(&tapes, &fourth_derivative)?, (&x, &row))?;
    let rows = [2.0, -1.0, 0.5];
    assert_near(&fifth.to_vec()?, (0..6).map(|i| 120.0 * rows[i % 3]), "fifth");
    let xs = x.to_vec()?;
    assert_near(&by_row.to_vec()?, (0..3).map(|i| 120.0 * (xs[i] + xs[i + 3])), "by the row");
    Ok(())
}
