//! Gradients that contradict the declaration.

use dahl::prelude::*;

#[codelet(R, W, shape(out = x), gradient = rule(y))]
fn unknown_name<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = x), gradient = rule)]
fn of_integers(x: &[u32], out: &mut [u32]) {
    out.copy_from_slice(x);
}

#[codelet(R, RW, W, shape(out = x), gradient = rule)]
fn changes<T: Real>(x: &[T], state: &mut [T], out: &mut [T]) {
    state.copy_from_slice(x);
    out.copy_from_slice(x);
}

#[codelet(R, R, W, shape(out = x), gradient = adjoint(changes))]
fn two_inputs<T: Real>(x: &[T], y: &[T], out: &mut [T]) {
    let _ = y;
    out.copy_from_slice(x);
}

#[codelet(R, W, gradient = derived, cpu_only)]
fn cannot_be_derived<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, shape(out = x), gradient = derived)]
fn is_no_map<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = x), gradient)]
fn malformed<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
