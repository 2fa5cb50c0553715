//! A kernel that calls a library takes an array of the device for each array of the declaration.

use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView1, ArrayViewMut1};
use dahl::prelude::*;

fn by_library<T: Real>(
    call: &mut CudaCall<'_>,
    x: CudaArray<'_, T, 2>,
    out: CudaArrayMut<'_, T, 1>,
) -> Result<(), CudaCallError> {
    let _ = (call, x, out);
    Ok(())
}

#[codelet(R, W, shape(out = [x.len()]), cuda_call = [cudnn by_library])]
fn copy<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

fn main() {}
