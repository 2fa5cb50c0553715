//! A codelet has a mode for each array.

use dahl::prelude::*;

#[codelet]
fn copy<T: Real>(x: T) -> T {
    x
}

#[codelet(cpu_only)]
fn copy_slice<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
