//! A function of another module is not one of `Real`, whatever its name is.

use dahl::prelude::*;

mod mine {
    pub fn exp<T: dahl::Real>(x: T) -> T {
        x + x + x
    }
}

#[codelet(R, W)]
fn tripled<T: Real>(x: T) -> T {
    mine::exp(x)
}

fn main() {}
