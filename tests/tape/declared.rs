//! The gradients that `numerics!` checks: what passes, and wrong ones, each with the check that must find it.

use dahl::testing::gradient::{Check, Failure, Operation, compare_gradients};
use dahl::testing::{GradientSummary, within};
use dahl::{bf16, f16};

use super::*;

/// As `numerics!`, with the result of the check.
macro_rules! compared {
    ($codelet:expr, ($($operand:tt)*), ($($argument:expr),*)) => {
        compare_gradients(&[
            operation_in!(f16, $codelet, ($($operand)*), ($($argument),*)),
            operation_in!(bf16, $codelet, ($($operand)*), ($($argument),*)),
            operation_in!(f32, $codelet, ($($operand)*), ($($argument),*)),
            operation_in!(f64, $codelet, ($($operand)*), ($($argument),*)),
        ])
    };
}

macro_rules! operation_in {
    ($element:ty, $codelet:expr, ($($operand:tt)*), ($($argument:expr),*)) => {{
        type T = $element;
        let _ = T::ZERO;
        let operands = &dahl::__numerics_operands!(T, [] $($operand)*);
        Operation::new::<T, _, _, _, _>("mutant", $codelet, operands, ($($argument,)*))
    }};
}

#[track_caller]
fn assert_caught(
    result: std::result::Result<Vec<GradientSummary>, Failure>,
    check: Check,
    input: Option<&str>,
) -> String {
    let failure = result.expect_err("a mutant lives");
    assert_eq!((failure.check(), failure.input()), (check, input), "{failure}");
    failure.to_string()
}

/// `out = factor x y + tanh(x)`, with an output of which inputs are stretched.
#[codelet(R, R, W, broadcast)]
fn mixed<T: Real>(x: T, y: T, factor: T) -> T {
    factor * x * y + x.tanh()
}

#[codelet(R, W, shape(out = []), gradient = none)]
fn length<T: Real>(x: &[T], out: &mut [T]) {
    out[0] = T::from_f64(x.len() as f64);
}

#[test]
fn right_gradients_pass_in_every_element_type() {
    for found in [
        compared!(Mixed, ([3, 5], [3, 5], _), (T::from_f64(0.3))),
        compared!(Mixed, ([3, 5], [1, 5], _), (T::from_f64(0.3))),
        compared!(Mixed, (within(1e3, 2e3, [3, 1]), [3, 5], _), (T::from_f64(0.3))),
        compared!(dahl::ops::codelets::Softmax, ([3, 5], _), (1)),
    ] {
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(
            found.iter().map(|summary| summary.element).collect::<Vec<_>>(),
            ["f16", "bf16", "f32", "f64"]
        );
        for summary in found {
            assert!(summary.results >= 15 && summary.bound_fraction <= 1.0, "{summary:?}");
            assert!(summary.element == "f64" || summary.bound_fraction > 1e-3, "{summary:?}");
        }
    }
}

#[test]
fn what_says_that_nothing_flows_has_nothing_to_check() {
    assert_eq!(compared!(Length, ([3], _), ()).unwrap().len(), 0);
    assert_eq!(compared!(dahl::ops::codelets::ArgMax, ([3, 5], _), (1)).unwrap().len(), 0);
}

#[test]
fn a_map_without_slopes_has_derivatives_of_zero() {
    for found in [
        compared!(dahl::ops::codelets::Floor, ([3, 5], _), ()),
        compared!(dahl::ops::codelets::MeanAbsoluteErrorBackward, ([3, 5], [3, 5], _), (0.5)),
    ] {
        let found = found.unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|summary| summary.results >= 15 && summary.max_ulps == 0.0), "{found:?}");
    }
    // What makes masks has nothing to differentiate.
    assert_eq!(compared!(dahl::ops::codelets::Less, ([3, 5], [3, 5], _), ()).unwrap().len(), 0);
}

/// `out = 0.5 x`, taken for a map whose derivatives are 0.
#[codelet(R, W, gradient = data(zero))]
fn half_of<T: Real>(x: T) -> T {
    T::from_f64(0.5) * x
}

#[allow(clippy::extra_unused_type_parameters, reason = "the option gives it those of the declaration")]
fn zero<T: Real>() -> &'static dahl::__private::Gradient {
    dahl::__private::Gradient::zero()
}

#[test]
fn a_map_that_is_taken_for_one_without_slopes() {
    assert_caught(compared!(HalfOf, ([3, 5], _), ()), Check::Exact, Some("x"));
}

/// `out = 3 x`, whose rule multiplies by numbers that are rounded to the element type.
#[codelet(R, W, gradient = rounds_factors())]
fn triple<T: Real>(x: T) -> T {
    T::from_f64(3.0) * x
}

fn rounds_factors<T: Real, const N: usize>(rule: TripleGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    let tenth = scale_init(rule.scope, rule.gradient, T::from_f64(0.3))?;
    *by_x = scale_init(rule.scope, &tenth, T::from_f64(10.0))?;
    Ok(())
}

#[test]
fn a_factor_in_the_element_type() {
    let text = assert_caught(compared!(Triple, ([3, 5], _), ()), Check::Rounding, Some("x"));
    assert!(text.contains("mutant in f16"), "{text}");
}

/// `out = 3 x`, a kernel whose rule subtracts large numbers from each other.
#[codelet(R, W, shape(out = x), gradient = cancels())]
fn triple_of_all<T: Real>(x: &[T], out: &mut [T]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out = T::from_f64(3.0) * *x);
}

fn cancels<T: Real, const N: usize>(rule: TripleOfAllGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    let [more, less] =
        [1027.0, 1024.0].map(|factor| scale_init(rule.scope, rule.gradient, T::from_f64(factor)));
    *by_x = sub_init(rule.scope, &more?, &less?)?;
    Ok(())
}

#[test]
fn a_kernel_s_gradient_that_cancels() {
    assert_caught(compared!(TripleOfAll, ([3, 5], _), ()), Check::Rounding, Some("x"));
}

/// `out = x^2`, whose rule takes `x` for a constant.
#[codelet(R, W, gradient = severs(x))]
fn square_of<T: Real>(x: T) -> T {
    x * x
}

fn severs<T: Real, const N: usize>(rule: SquareOfGradient<'_, T, N>) -> Result<()> {
    let Some(by_x) = rule.by_x else { return Ok(()) };
    let twice = scale_init(rule.scope.detached(), rule.x, T::from_f64(2.0))?;
    *by_x = mul_init(rule.scope, rule.gradient, &twice)?;
    Ok(())
}

#[test]
fn a_second_gradient_that_is_severed() {
    let text = assert_caught(compared!(SquareOf, ([3, 5], _), ()), Check::Directions, Some("x"));
    assert!(text.contains("mutant: second"), "{text}");
}
