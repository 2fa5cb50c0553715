//! `cuda` names a kernel of the build-time generator, of a kernel with views that is not for the CPU alone.

use dahl::prelude::*;

#[codelet(R, W, cuda = kernels::COPY)]
fn copy<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, shape(out = x), cpu_only, cuda = kernels::MOVE)]
fn move_there<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = x), cuda = kernels::shift)]
fn shift<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = x), cuda)]
fn turn<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn main() {}
