//! A program returns arrays.

use dahl::prelude::*;

#[program]
fn to_numbers(_scope: &Recording<'_>, x: &Vector<'_, f32>) -> dahl::Result<Vec<f32>> {
    x.to_vec()
}

fn main() {}
