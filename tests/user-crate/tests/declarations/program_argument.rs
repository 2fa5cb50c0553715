//! Arguments and results that a program cannot have.

use dahl::prelude::*;

#[program]
fn of_text(_scope: &Recording<'_>, x: &Vector<'_, f32>, name: &str) -> dahl::Result<()> {
    let _ = (x, name);
    Ok(())
}

fn main() {}
