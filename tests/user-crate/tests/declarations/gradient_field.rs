//! A rule that reads an array that its declaration does not list, and one with a wrong signature.

use dahl::prelude::*;

#[codelet(R, R, W, shape(out = x), gradient = reads_too_much(y))]
fn product<T: Real>(x: &[T], y: &[T], out: &mut [T]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = *x * *y;
    }
}

fn reads_too_much<T: Real, const N: usize>(rule: ProductGradient<'_, T, N>) -> dahl::Result<()> {
    let _ = rule.x;
    Ok(())
}

#[codelet(R, W, shape(out = x), gradient = of_other_types)]
fn copied<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

fn of_other_types(x: f64) -> f64 {
    x
}

fn main() {}
