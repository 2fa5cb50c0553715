//! Plain arguments implement `Argument`.

use dahl::prelude::*;

#[codelet(W)]
fn label<T: Real>(out: &mut [T], name: String) {
    let _ = (out, name);
}

fn main() {}
