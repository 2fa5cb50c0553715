//! Modes and options are known by name; a near miss is recognised.

use dahl::prelude::*;

#[codelet(r, W)]
fn lower_case<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, brodcast)]
fn misspelt<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, quickly)]
fn unknown<T: Real>(x: T) -> T {
    x
}

#[codelet(R, W, 3)]
fn number<T: Real>(x: T) -> T {
    x
}

fn main() {}
