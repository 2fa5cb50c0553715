//! The error is in the declaration alone: what calls it, in every way, gets no error of its own.

use dahl::prelude::*;

#[codelet(R, R, W, in_place = z)]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

#[codelet(R, W, shape(out = [x.len()]), no_such_option)]
pub fn first<T: Real>(x: &[T], out: &mut [T]) {
    out[0] = x[0];
}

#[codelet(R, W)]
pub fn second(x: Vec<f32>, out: &mut [f32]) {
    out[0] = x[0];
}

fn main() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let arena = rt.arena();
    let x: Vector<f32> = arena.zeros([3])?;
    let mut y: Vector<f32> = arena.zeros([3])?;
    let mut out: Vector<f32> = arena.zeros([3])?;
    axpy(&x, &y, &mut out, 2.0)?;
    axpy_self(&x, &mut y, 2.0)?;
    let made = axpy_init(&arena, &x, &y, 2.0)?;
    println!("{:?}", made.read()?);
    Axpy::task(&x, &y, &mut out, 2.0).priority(1).submit()?;
    first(&x, &mut out)?;
    first_self(&mut out)?;
    println!("{:?}", first_init(&arena, &x)?.to_vec()?);
    second(&x, &mut out)?;
    println!("{} {:?}", Axpy::NAME, Axpy::MODES);
    Ok(())
}
