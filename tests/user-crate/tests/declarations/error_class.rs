//! A class of errors is one of three, each with its own usage.

use dahl::prelude::*;

#[codelet(R, W, error = exact)]
fn unknown<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error)]
fn no_class<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = 2)]
fn number<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = rounded(2))]
fn rounded_to<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = ulp)]
fn no_units<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = ulp(UNITS))]
fn named_units<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = sum)]
fn no_terms<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = sum(terms = magnitude))]
fn no_number_of_terms<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = sum(n = 2, terms = magnitude, n = 3))]
fn twice<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = sum(length = 2))]
fn other_name<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, error = ulp(2), error = rounded)]
fn two_classes<T: Real>(x: T) -> T {
    x
}

fn main() {}
