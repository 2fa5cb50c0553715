//! A codelet is a plain function.

use dahl::prelude::*;

#[codelet(R, W)]
async fn one<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W)]
const unsafe extern "C" fn two<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W)]
fn three<'a, T: Real, U: Real>(x: &'a [T], out: &'a mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W)]
fn four<T: Real>(x: T, (low, high): (T, T)) -> T {
    x.clamp(low, high)
}

fn main() {}
