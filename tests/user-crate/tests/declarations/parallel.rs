//! What is said of kernels: which use several cores, and which give the same bits.

use dahl::prelude::*;

fn by_parts<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

mod other {
    pub(crate) fn by_parts() {}
}

mod kernels {
    pub(crate) const COPY_C: () = ();
}

#[codelet(R, W, parallel = by_parts)]
fn negate<T: Real>(x: T) -> T {
    -x
}

#[codelet(R, W, parallel = kernels::COPY_C)]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, cpu = [parallel kernels::COPY_C, fast by_parts, equal parallel equal by_parts, other::by_parts])]
fn copy_again<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, parallel, parallel = by_parts)]
fn copy_twice<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, parallel(by_parts))]
fn copy_malformed<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
