//! `cuda_call` names functions that call a library, of a kernel whose arrays have ranks.

use dahl::ndarray::{ArrayView1, ArrayViewMut1};
use dahl::prelude::*;

#[codelet(R, W, cuda_call = [copy_by_library])]
fn copy<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, shape(out = x), cuda_call = [move_by_library])]
fn move_there<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = x), cuda_call = [cublas cublas first, fast second, rust], cpu_only)]
fn shift<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

/// It does not take the device's arrays.
fn turn_by_library<T: Real>(_: ArrayView1<T>, _: ArrayViewMut1<T>) {}

#[codelet(R, W, shape(out = x), cuda_call = [cublas turn_by_library])]
fn turn<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

#[codelet(R, W, shape(out = x), cuda_call)]
fn mirror<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

fn main() {}
