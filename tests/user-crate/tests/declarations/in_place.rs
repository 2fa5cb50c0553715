//! `in_place` names an input that can hold the output.

use dahl::prelude::*;

#[codelet(R, R, W, in_place = z)]
fn unknown<T: Real>(x: T, y: T) -> T {
    x + y
}

#[codelet(R, R, W, in_place = mask)]
fn other_type<T: Real>(x: T, mask: u8) -> T {
    if mask > 0 { x } else { T::ZERO }
}

#[codelet(R, W, in_place = out)]
fn the_output<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, RW, in_place = x)]
fn no_output<T: Real>(x: &[T], y: &mut [T]) {
    y.copy_from_slice(x);
}

#[codelet(R, W, in_place_kernel = twice_in_place)]
fn twice<T: Real>(x: T) -> T {
    x + x
}

fn main() {}
