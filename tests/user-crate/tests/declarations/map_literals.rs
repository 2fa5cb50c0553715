//! A literal is no value of a type parameter; the error names what is.

use dahl::prelude::*;

#[codelet(R, W)]
fn operators<T: Real>(x: T, slope: T, steps: u32) -> T {
    let shadowed = x.to_f64() * 2.0;
    let steps = T::from_f64(shadowed + 2.0 * 3.0);
    if x < 0 { 2.5 * (x + slope) } else { -x.exp() / -4.0 + T::PI * 1.0 + steps }
}

#[codelet(R, W)]
fn methods<T: Real>(x: T) -> T {
    x.max(0.0).powi(2).mul_add(T::ONE, 1e-3)
}

fn main() {}
