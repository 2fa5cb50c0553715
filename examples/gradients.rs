//! Gradients come from the same declarations: under a tape, `_init` wrappers run as ever and are remembered.
use dahl::ndarray::ArrayView0;
use dahl::ops::{mul_init, sum_init};
use dahl::prelude::*;

/// `out = x * sigmoid(slope * x)`. Its gradient by `x` and by `slope` is written by the macro, from the body.
#[codelet(R, R, W)]
pub fn swish<T: Real>(x: T, slope: T) -> T {
    x / (T::ONE + (-slope * x).exp())
}

/// The sum of squares: a kernel, which says what its gradient is.
#[codelet(R, W, shape(out = []), gradient = sum_of_squares_gradient)]
pub fn sum_of_squares<T: Real>(x: &[T], out: &mut [T]) {
    let sum = x.iter().map(|x| x.widen() * x.widen()).fold(T::Compute::ZERO, |sum, square| sum + square);
    out[0] = T::narrow(sum);
}

fn sum_of_squares_gradient<T: Real, const N: usize>(
    rule: SumOfSquaresGradient<'_, T, N>,
) -> dahl::Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    twice_times(rule.x, rule.gradient, by_x)
}

/// `out = 2 x gradient`, for a gradient that is one number.
#[codelet(R, R, W, shape(out = x))]
fn twice_times<T: Real>(x: &[T], gradient: ArrayView0<T>, out: &mut [T]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = (*x + *x) * gradient[()];
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * b.abs().max(1.0)
}

fn main() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let arena = rt.arena();
    let x = arena.from_slice([2, 2], &[1.0_f64, -2.0, 0.5, 3.0])?;
    let slope = arena.from_slice([2, 2], &[1.0_f64, 0.5, -1.5, 2.0])?;
    let loss = |x: &[f64], slope: &[f64]| -> f64 {
        x.iter().zip(slope).map(|(x, s)| (x / (1.0 + (-s * x).exp())).powi(2)).sum()
    };

    let mut tape = rt.tape();
    for _ in 0..3 {
        let y = swish_init(&tape, &x, &slope)?;
        let total = sum_of_squares_init(&tape, &y)?;
        let (by_x, by_slope) = tape.gradients(&total, (&x, &slope))?;
        let (by_x, by_slope) = (by_x.to_vec()?, by_slope.to_vec()?);
        let (xs, ss) = (x.to_vec()?, slope.to_vec()?);
        for i in 0..4 {
            let bumped = |v: &[f64], d: f64| {
                v.iter().enumerate().map(|(j, v)| v + if i == j { d } else { 0.0 }).collect::<Vec<_>>()
            };
            let dx = (loss(&bumped(&xs, 1e-6), &ss) - loss(&bumped(&xs, -1e-6), &ss)) / 2e-6;
            let ds = (loss(&xs, &bumped(&ss, 1e-6)) - loss(&xs, &bumped(&ss, -1e-6))) / 2e-6;
            assert!((by_x[i] - dx).abs() < 1e-8 && (by_slope[i] - ds).abs() < 1e-8, "{i}");
        }
        tape.reset();
    }

    // The gradient of a gradient: the inner tape's reverse pass runs on the outer one.
    let outer = rt.tape();
    let inner = outer.tape();
    let cube = mul_init(&inner, &mul_init(&inner, &x, &x)?, &x)?;
    let first = inner.gradients(&sum_init(&inner, &cube)?, &x)?;
    let second = outer.gradients(&sum_init(&outer, &first)?, &x)?;
    assert!(first.to_vec()?.iter().zip(x.to_vec()?).all(|(&d, x)| near(d, 3.0 * x * x)));
    assert!(second.to_vec()?.iter().zip(x.to_vec()?).all(|(&d, x)| near(d, 6.0 * x)));

    // What the loss does not depend on is an error, not zeros.
    let unused = arena.from_slice([1], &[1.0_f64])?;
    let tape = rt.tape();
    let total = sum_of_squares_init(&tape, &x)?;
    let error = tape.gradients(&total, &unused).map(|_| ()).expect_err("it does not depend on it");
    println!("{error}");
    Ok(())
}
