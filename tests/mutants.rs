//! Checks that the comparison of `dahl::testing` finds mistakes: wrong codelets, each with the check that must find it.
//!
//! A mutant is a codelet with a common mistake, and a reference without it. `caught_by` names the checks that found
//! something, over all element types.

use std::sync::atomic::{AtomicU32, Ordering};

use dahl::codelet::Variants;
use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;
use dahl::testing::{Check, Failure, Summary, compare, compare_types, within};
use dahl::{bf16, f16};

/// Compares a codelet in all four types; returns the checks that failed, by element type.
macro_rules! caught_by {
    ($codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {{
        let results = [
            compare_in!(f16, $codelet, ($($operand)*), ($($argument),*)),
            compare_in!(bf16, $codelet, ($($operand)*), ($($argument),*)),
            compare_in!(f32, $codelet, ($($operand)*), ($($argument),*)),
            compare_in!(f64, $codelet, ($($operand)*), ($($argument),*)),
        ];
        Caught::new(results)
    }};
}

macro_rules! compare_in {
    ($element:ty, $codelet:expr, ($($operand:tt)*), ($($argument:expr),*)) => {{
        type T = $element;
        let _ = T::ZERO;
        let operands = &dahl::__numerics_operands!(T, [] $($operand)*);
        compare::<T, _, _, _, _>("mutant", $codelet, operands, ($($argument,)*))
    }};
}

/// The results of comparisons in f16, bf16, f32 and f64.
struct Caught {
    checks: [Option<Check>; 4],
    /// The result of the comparison between the types, for those that passed.
    types: Option<Check>,
    texts: String,
}

impl Caught {
    fn new(results: [Result<Summary, Box<Failure>>; 4]) -> Self {
        let check = |result: &Result<_, Box<Failure>>| result.as_ref().err().map(|failure| failure.check());
        let checks = [0, 1, 2, 3].map(|i| check(&results[i]));
        let texts =
            results.iter().filter_map(|result| result.as_ref().err()).map(|failure| failure.to_string());
        let texts = texts.collect();
        Self { checks, types: compare_types(results.each_ref()).err().map(|failure| failure.check()), texts }
    }

    /// Asserts that each type was caught by `check`.
    #[track_caller]
    fn everywhere(&self, check: Check) -> &Self {
        assert_eq!(self.checks, [Some(check); 4], "{}", self.texts);
        self
    }

    /// Asserts that the failures say `text`.
    #[track_caller]
    fn saying(&self, text: &str) {
        assert!(self.texts.contains(text), "{text} is not in\n{}", self.texts);
    }
}

mod reference {
    pub(super) fn copy(x: f64) -> f64 {
        x
    }

    pub(super) fn negated(x: f64) -> f64 {
        -x
    }

    pub(super) fn difference(x: f64, y: f64) -> f64 {
        x - y
    }

    pub(super) fn tenth(x: f64) -> f64 {
        x / 10.0
    }

    pub(super) fn relu(x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { x }
    }

    pub(super) fn scaled(x: f64, factor: f64) -> f64 {
        factor * x
    }

    pub(super) fn copied(x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }

    pub(super) fn sums(input: super::ArrayView2<f64>, mut out: super::ArrayViewMut2<f64>) {
        for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
            *out = row.iter().sum();
        }
    }

    pub(super) fn transposed(input: super::ArrayView2<f64>, mut out: super::ArrayViewMut2<f64>) {
        out.assign(&input.t());
    }

    pub(super) fn differences(x: &[f64], out: &mut [f64]) {
        for i in 0..x.len() {
            out[i] = x[i] - if i == 0 { 0.0 } else { x[i - 1] };
        }
    }

    pub(super) fn maximum(x: f64, y: f64) -> f64 {
        match x.partial_cmp(&y) {
            None => f64::NAN,
            Some(std::cmp::Ordering::Equal) => {
                if x.is_sign_positive() {
                    x
                } else {
                    y
                }
            }
            Some(_) => x.max(y),
        }
    }

    pub(super) fn variance(input: &[f64], out: &mut [f64]) {
        let count = input.len() as f64;
        let mean = input.iter().sum::<f64>() / count;
        out[0] = input.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count;
    }

    pub(super) fn softmax(input: &[f64], out: &mut [f64]) {
        let largest = input.iter().copied().fold(f64::NEG_INFINITY, maximum);
        let sum: f64 = input.iter().map(|x| (x - largest).exp()).sum();
        for (out, x) in out.iter_mut().zip(input) {
            *out = (x - largest).exp() / sum;
        }
    }
}

/// Reads one element too early.
#[codelet(R, W, shape(out = x), reference = reference::copied, error = rounded)]
fn off_by_one<T: Real>(x: &[T], out: &mut [T]) {
    for i in 0..out.len() {
        out[i] = x[i.saturating_sub(1)];
    }
}

#[test]
fn off_by_one_element() {
    caught_by!(OffByOne, ([31], _), ()).everywhere(Check::Bound).saying("expected");
}

/// Subtracts the wrong way round.
#[codelet(R, R, W, reference = reference::difference, error = rounded)]
fn wrong_sign<T: Real>(x: T, y: T) -> T {
    y - x
}

#[test]
fn a_wrong_sign() {
    caught_by!(WrongSign, ([7, 5], [7, 5], _), ()).everywhere(Check::Bound).saying("beyond the bound");
}

/// Accumulates in the element type.
#[codelet(R, W, shape(out = [input.nrows(), 1]), reference = reference::sums, error = sum(n = input.ncols()))]
fn narrow_sums<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
        *out = row.iter().copied().fold(T::ZERO, |sum, x| sum + x);
    }
}

#[test]
fn accumulation_in_half_precision() {
    let caught = caught_by!(NarrowSums, ([3, 500], _), ());
    let bound = Some(Check::Bound);
    assert_eq!(caught.checks, [bound, bound, None, None], "{}", caught.texts);
}

/// Forgets the last row.
#[codelet(R, W, shape(out = input), reference = reference::transposed, error = rounded)]
fn missing_last_row<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    let last = input.nrows() - 1;
    for (row, mut out) in input.columns().into_iter().zip(out.rows_mut()).take(last) {
        out.assign(&row);
    }
}

#[test]
fn a_missing_last_row() {
    caught_by!(MissingLastRow, ([6, 6], _), ()).everywhere(Check::Writes).saying("out[5, 0]");
}

/// Leaves out elements that are zero.
#[codelet(R, W, shape(out = x), reference = reference::copied, error = rounded)]
fn unwritten_zeros<T: Real>(x: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(x) {
        if x != T::ZERO {
            *out = x;
        }
    }
}

#[test]
fn an_unwritten_element() {
    caught_by!(UnwrittenZeros, ([31], _), ()).everywhere(Check::Writes).saying("`W` writes every element");
}

/// Differences of neighbours; correct if the output is another array.
#[codelet(R, W, shape(out = x), reference = reference::differences, error = rounded, in_place_kernel = differences_in_place)]
fn differences<T: Real>(x: &[T], out: &mut [T]) {
    for i in 0..x.len() {
        out[i] = x[i] - if i == 0 { T::ZERO } else { x[i - 1] };
    }
}

/// Reads neighbours that it has overwritten.
fn differences_in_place<T: Real>(x: &mut [T]) {
    for i in 1..x.len() {
        x[i] -= x[i - 1];
    }
}

#[test]
fn an_in_place_variant_that_reads_what_it_wrote() {
    caught_by!(Differences, ([31], _), ())
        .everywhere(Check::Bound)
        .saying("op_self, kernel `differences_in_place`");
}

/// Rounds its constant to `f32`.
#[codelet(R, W, reference = reference::tenth, error = ulp(1.5))]
fn single_precision_constant<T: Real>(x: T) -> T {
    x * T::from_f64(0.10000000149011612)
}

/// The same, with a bound that is useless.
#[codelet(R, W, reference = reference::tenth, error = ulp(1e12))]
fn single_precision_constant_unbounded<T: Real>(x: T) -> T {
    x * T::from_f64(0.10000000149011612)
}

#[test]
fn a_constant_of_single_precision_in_double() {
    let caught = caught_by!(SinglePrecisionConstant, (within(-1e3, 1e3, [31]), _), ());
    assert_eq!(caught.checks[3], Some(Check::Bound), "{}", caught.texts);
    let caught = caught_by!(SinglePrecisionConstantUnbounded, (within(1.0, 1e3, [31]), _), ());
    assert_eq!((caught.checks, caught.types), ([None; 4], Some(Check::ElementTypes)), "{}", caught.texts);
}

/// The larger of two, as by C's `fmax`.
#[codelet(R, R, W, reference = reference::maximum, error = rounded)]
fn maximum_without_nan<T: Real>(x: T, y: T) -> T {
    if x.is_nan() {
        y
    } else if y.is_nan() {
        x
    } else {
        x.max(y)
    }
}

#[test]
fn a_maximum_that_drops_nan() {
    caught_by!(MaximumWithoutNan, ([31, 17], [31, 17], _), ()).everywhere(Check::SpecialValues).saying("NaN");
}

/// Zero for everything that is not larger than zero, NaN included.
#[codelet(R, W, reference = reference::relu, error = rounded)]
fn relu_without_nan<T: Real>(x: T) -> T {
    if x > T::ZERO { x } else { T::ZERO }
}

#[test]
fn a_relu_that_drops_nan() {
    caught_by!(ReluWithoutNan, ([31, 17], _), ()).everywhere(Check::SpecialValues);
}

/// Loses the sign of `-0`.
#[codelet(R, W, reference = reference::negated, error = rounded)]
fn negation_by_subtraction<T: Real>(x: T) -> T {
    T::ZERO - x
}

#[test]
fn a_zero_of_the_wrong_sign() {
    caught_by!(NegationBySubtraction, ([31, 17], _), ())
        .everywhere(Check::SpecialValues)
        .saying("with zeros");
}

/// Flushes subnormal numbers to zero.
#[codelet(R, W, reference = reference::copy, error = rounded)]
fn flushing<T: Real>(x: T) -> T {
    if x.abs() < T::MIN_POSITIVE { x * T::ZERO } else { x }
}

#[test]
fn subnormal_numbers_flushed() {
    // The constant is that of the compute type, so `f16` keeps its own.
    let caught = caught_by!(Flushing, ([31], _), ());
    let bound = Some(Check::Bound);
    assert_eq!(caught.checks, [None, bound, bound, bound], "{}", caught.texts);
}

/// Ignores its argument.
#[codelet(R, W, reference = reference::scaled, error = rounded)]
fn argument_ignored<T: Real>(x: T, factor: T) -> T {
    let _ = factor;
    x
}

#[test]
fn an_argument_that_is_ignored() {
    caught_by!(ArgumentIgnored, ([31], _), (T::from_f64(0.75))).everywhere(Check::Bound);
}

/// Takes the elements in the order of memory, strided or not.
#[codelet(R, W, shape(out = [input.nrows(), 1]), reference = reference::sums, error = sum(n = input.ncols()))]
fn strides_ignored<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    let columns = input.ncols();
    let contiguous = input.as_slice().unwrap_or_default();
    for (row, out) in out.iter_mut().enumerate() {
        let row = contiguous.get(row * columns..(row + 1) * columns).unwrap_or_default();
        *out = T::narrow(row.iter().map(|x| x.widen()).sum());
    }
}

#[test]
fn strides_that_are_ignored() {
    caught_by!(StridesIgnored, ([5, 7], _), ()).everywhere(Check::Bound).saying("strided parts");
}

/// Gives another result each time.
#[codelet(R, W, shape(out = x), error = ulp(1e6))]
fn restless<T: Real>(x: &[T], out: &mut [T]) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let factor = T::Compute::ONE
        + T::Compute::EPSILON * T::Compute::from_f64(f64::from(CALLS.fetch_add(1, Ordering::Relaxed)));
    for (out, x) in out.iter_mut().zip(x) {
        *out = T::narrow(x.widen() * factor);
    }
}

#[test]
fn a_result_that_is_another_each_time() {
    let caught = caught_by!(Restless, ([31], _), ());
    assert!(matches!(caught.checks[2..], [Some(_), Some(_)]), "{}", caught.texts);
}

/// Panics on unexpected values.
#[codelet(R, W, shape(out = x), reference = reference::copied, error = rounded)]
fn panicking<T: Real>(x: &[T], out: &mut [T]) {
    for (out, &x) in out.iter_mut().zip(x) {
        assert!(!x.is_infinite(), "an infinity");
        *out = x;
    }
}

#[test]
fn a_kernel_that_panics() {
    caught_by!(Panicking, ([31, 17], _), ()).everywhere(Check::Runs).saying("panicked: an infinity");
}

/// The mean of squares minus the square of the mean.
#[codelet(R, W, shape(out = [1]), reference = reference::variance, error = ulp(64))]
fn naive_variance<T: Real>(input: &[T], out: &mut [T]) {
    let count = T::Compute::from_f64(input.len() as f64);
    let mean = input.iter().map(|x| x.widen()).sum::<T::Compute>() / count;
    let squares = input.iter().map(|x| x.widen() * x.widen()).sum::<T::Compute>() / count;
    out[0] = T::narrow(squares - mean * mean);
}

#[test]
fn a_variance_that_cancels() {
    let caught = caught_by!(NaiveVariance, (within(1000.0, 1001.0, [32]), _), ());
    assert_eq!(caught.checks[2..], [Some(Check::Bound); 2], "{}", caught.texts);
}

/// Does not subtract the largest.
#[codelet(R, W, shape(out = input), reference = reference::softmax, error = ulp(256))]
fn naive_softmax<T: Real>(input: &[T], out: &mut [T]) {
    let sum: T::Compute = input.iter().map(|x| x.widen().exp()).sum();
    for (out, x) in out.iter_mut().zip(input) {
        *out = T::narrow(x.widen().exp() / sum);
    }
}

#[test]
fn a_softmax_that_overflows() {
    caught_by!(NaiveSoftmax, (within(990.0, 1000.0, [8]), _), ()).everywhere(Check::SpecialValues);
}

/// Reads beside its part: uses the distance of rows as their length.
#[codelet(R, W, shape(out = [input.nrows(), 1]), reference = reference::sums, error = sum(n = input.ncols()))]
fn reading_beside<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    let whole = input.strides()[0] as usize > input.ncols();
    for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
        // The values that a kernel in C would find there.
        let beside = if whole { T::NAN.widen() } else { T::Compute::ZERO };
        *out = T::narrow(row.iter().map(|x| x.widen()).sum::<T::Compute>() + beside);
    }
}

#[test]
fn what_lies_beside_a_part() {
    caught_by!(ReadingBeside, (within(1.0, 2.0, [5, 7]), _), ())
        .everywhere(Check::SpecialValues)
        .saying("strided parts");
}

/// Wrong if exactly one of its arrays is strided.
#[codelet(R, W, shape(out = [input.ncols(), input.nrows()]), reference = reference::transposed, error = rounded)]
fn one_strided<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    out.assign(&input.t());
    if input.as_slice().is_some() != out.as_slice().is_some() {
        out.fill(T::ZERO);
    }
}

#[test]
fn arrays_of_two_layouts() {
    caught_by!(OneStrided, ([5, 7], _), ()).everywhere(Check::Bound).saying("inputs in strided parts");
}

/// Fails where a sum is large.
#[codelet(R, W, shape(out = [input.nrows(), 1]), reference = reference::sums, error = sum(n = input.ncols()))]
fn losing_large_sums<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for (row, out) in input.rows().into_iter().zip(out.iter_mut()) {
        let sum: T::Compute = row.iter().map(|x| x.widen()).sum();
        *out = if sum.is_infinite() { T::ONE } else { T::narrow(sum) };
    }
}

#[test]
fn a_sum_that_overflows_to_a_number() {
    let large = || dahl::testing::holding([1, 3], &[3e38, -1e38, 2e38]);
    let caught = caught_by!(LosingLargeSums, (large(), _), ());
    assert_eq!(caught.checks[2], Some(Check::Bound), "{}", caught.texts);
}

/// A correct kernel passes, so the others fail because of their mistakes.
#[codelet(R, R, W, reference = reference::difference, error = rounded)]
fn right<T: Real>(x: T, y: T) -> T {
    x - y
}

#[test]
fn what_is_right_passes() {
    let caught = caught_by!(Right, ([31, 17], [31, 17], _), ());
    assert_eq!((caught.checks, caught.types), ([None; 4], None), "{}", caught.texts);
    fn is_callable<A, G, C: Variants<A, G>>(_: C) -> &'static str {
        C::descriptor().name
    }
    let name = is_callable::<(Vector<'_, f32>, Vector<'_, f32>, Vector<'_, f32>), (), _>(Right);
    assert_eq!(name, "right");
}
