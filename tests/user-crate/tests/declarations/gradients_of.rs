//! Gradients of what is no number, and by what is no real number.

use dahl::prelude::*;

#[codelet(R, R, W, shape(out = x), gradient = of_an_index(index))]
fn chosen<T: Real>(x: &[T], index: &[u32], out: &mut [T]) {
    for (out, index) in out.iter_mut().zip(index) {
        *out = x[*index as usize];
    }
}

fn of_an_index<T: Real, const N: usize>(rule: ChosenGradient<'_, T, N>) -> dahl::Result<()> {
    let _ = rule.by_index;
    Ok(())
}

fn main() -> dahl::Result<()> {
    let rt = Runtime::new()?;
    let arena = rt.arena();
    let tape = rt.tape();
    let x = arena.from_slice([2], &[1.0_f64, 2.0])?;
    let index = arena.from_slice([2], &[1_u32, 0])?;
    let count = arena.from_slice([], &[2_u32])?;
    let mut sum = arena.zeros::<f64, 1>([2])?;
    let out = chosen_init(&tape, &x, &index)?;
    let loss = dahl::ops::sum_init(&tape, &out)?;
    let _ = tape.gradients(&out, &x)?;
    let _ = tape.gradients(&count, &x)?;
    let _ = tape.gradients(&loss, &index)?;
    let _ = tape.gradients(&loss, (&x, &index))?;
    let _ = tape.gradients(&loss, x)?;
    tape.accumulate(&loss, &mut sum)?;
    Ok(())
}
