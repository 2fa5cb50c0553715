//! A reference takes the declaration's parameters with `f64` for the type parameters; a map's is a scalar function.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;

fn scale_in_f64(x: ArrayView2<f64>, mut out: ArrayViewMut2<f64>, alpha: f32) {
    out.assign(&x.mapv(|x| f64::from(alpha) * x));
}

#[codelet(R, W, shape(out = x), reference = scale_in_f64)]
fn scale<T: Real>(x: ArrayView2<T>, mut out: ArrayViewMut2<T>, alpha: T) {
    out.assign(&x.mapv(|x| alpha * x));
}

fn select_in_f32(mask: f64, x: f64) -> f32 {
    (mask * x) as f32
}

#[codelet(R, R, W, reference = select_in_f32)]
fn select<T: Real>(mask: u8, x: T) -> T {
    if mask != 0 { x } else { T::ZERO }
}

fn add_magnitudes(x: &[f32], out: &mut [f32]) {
    out[0] = x.iter().map(|x| x.abs()).sum();
}

#[codelet(R, REDUX, shape(out = []), error = sum(n = x.len(), terms = add_magnitudes))]
fn sum<T: Real>(x: &[T], out: &mut [T::Compute]) {
    for &x in x {
        out[0] += x.widen();
    }
}

#[codelet(R, W, reference = missing::exp, error = sum(n = x.rows()))]
fn exp<T: Real>(x: T) -> T {
    x.exp()
}

fn main() {}
