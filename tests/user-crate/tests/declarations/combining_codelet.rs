//! Partial results are combined by a codelet that does so in place, for elements of the accumulator's type.

use dahl::prelude::*;

/// Other modes.
#[codelet(R, W)]
fn doubled<T: Real>(x: T) -> T {
    x + x
}

#[codelet(R, REDUX(identity = T::ONE, combine = doubled))]
fn by_other_modes<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

/// No kernel in place.
#[codelet(R, R, W)]
fn to_a_third<T: Real>(a: &[T], b: &[T], out: &mut [T]) {
    let _ = (a, b, out);
}

#[codelet(R, REDUX(identity = T::ONE, combine = to_a_third))]
fn not_in_place<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

/// Another element type.
#[codelet(RW, R)]
fn merge(earlier: &mut [f64], later: &[f64]) {
    let _ = (earlier, later);
}

#[codelet(R, REDUX(identity = 0.0, combine = merge))]
fn of_another_type(x: &[f32], out: &mut [f32]) {
    let _ = (x, out);
}

/// An argument.
#[codelet(R, R, W)]
fn weighted<T: Real>(a: T, b: T, weight: T) -> T {
    a + weight * b
}

#[codelet(R, REDUX(identity = T::ZERO, combine = weighted))]
fn with_an_argument<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

/// An identity of another type.
#[codelet(R, REDUX(identity = 1, combine = dahl::ops::mul))]
fn another_identity<T: Real>(x: &[T], out: &mut [T]) {
    let _ = (x, out);
}

fn main() {}
