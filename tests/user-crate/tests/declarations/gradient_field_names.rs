//! Names that the struct of a gradient's rule gives to other fields.

use dahl::prelude::*;

#[codelet(R, R, W, shape(out = x), gradient = rule)]
fn by_another<T: Real>(x: &[T], by_x: &[T], out: &mut [T]) {
    let _ = by_x;
    out.copy_from_slice(x);
}

#[codelet(R, W, W, shape(out = x, mask = x), gradient = rule)]
fn of_an_argument<T: Real>(x: &[T], out: &mut [T], mask: &mut [u32], gradient: T, gradient_out: T) {
    let _ = (mask, gradient, gradient_out);
    out.copy_from_slice(x);
}

#[codelet(R, R, W, shape(out = x), gradient = rule(x))]
fn of_a_type<T: Real, I: Element>(x: &[T], indices: &[I], out: &mut [T], types: u32) {
    let _ = (indices, types);
    out.copy_from_slice(x);
}

fn main() {}
