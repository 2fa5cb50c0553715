//! What is deprecated is so for callers of every variant, and not inside the declaration.
#![deny(deprecated)]

use dahl::prelude::*;

/// `out = 2 x`.
#[codelet(R, W)]
#[deprecated = "call `scale`"]
fn twice<T: Real>(x: T) -> T {
    x + x
}

fn main() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let x = rt.zeros::<f32, 1>([2]).unwrap();
    let mut out = twice_init(&arena, &x).unwrap();
    twice(&x, &mut out).unwrap();
    twice_self(&mut out).unwrap();
    Twice::task(&x, &mut out).submit().unwrap();
}
