//! Only functions are codelets.

use dahl::prelude::*;

#[codelet(R, W)]
struct Copy2;

struct Ops;

impl Ops {
    #[codelet(R, W)]
    fn copy(&self, x: &[f32], out: &mut [f32]) {
        out.copy_from_slice(x);
    }
}

fn main() {}
