//! An operation without a gradient under a tape.

use dahl::prelude::*;

#[codelet(R, W, shape(out = x))]
fn rotate<T: Element>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

#[codelet(R, W, cpu_only)]
fn any_rust<T: Real>(x: T) -> T {
    x
}

fn main() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let (arena, tape) = (rt.arena(), rt.tape());
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let _ = rotate_init(&arena, &x)?;
    let _ = rotate_init(tape.detached(), &x)?;
    let _ = rotate_init(&tape, &x)?;
    let _ = any_rust_init(&tape, &x)?;
    Ok(())
}
