//! `cuda_call` names kernels that call one library each, which are given whole arrays with ranks.

use dahl::cuda::{CudaArray, CudaArrayMut, CudaCall, CudaCallError};
use dahl::ndarray::{ArrayView1, ArrayViewMut1};
use dahl::prelude::*;

fn by_library<T: Real>(
    call: &mut CudaCall<'_>,
    x: CudaArray<'_, T, 1>,
    out: CudaArrayMut<'_, T, 1>,
) -> Result<(), CudaCallError> {
    let _ = (call, x, out);
    Ok(())
}

#[codelet(R, W, cuda_call = [cublas by_library])]
fn negate<T: Real>(x: T) -> T {
    -x
}

#[codelet(R, W, shape(out = [x.len()]), cpu_only, cuda_call = [cudnn by_library])]
fn copy_there<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

#[codelet(R, W, shape(out = x), cuda_call = [cudnn by_library])]
fn copy<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, shape(out = [x.len()]), cuda_call = [cufft by_library, cudnn cudnn by_library, cublas equal cudnn by_library])]
fn copy_again<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

#[codelet(R, W, shape(out = [x.len()]), cuda_call = by_library)]
fn copy_malformed<T: Real>(x: ArrayView1<T>, mut out: ArrayViewMut1<T>) {
    out.assign(&x);
}

fn main() {}
