//! Two ops of the user's own, in every variant and element type.

use dahl::ndarray::{ArrayView2, ArrayViewMut2};
use dahl::prelude::*;

/// `out = alpha * x + y`, element by element.
#[codelet(R, R, W, in_place = y)]
pub fn axpy<T: Real>(x: T, y: T, alpha: T) -> T {
    alpha * x + y
}

/// Softmax of every row.
#[codelet(R, W, shape(out = input), flops = 5 * input.len())]
pub fn softmax_rows<T: Real>(input: ArrayView2<T>, mut out: ArrayViewMut2<T>) {
    for (row, mut probabilities) in input.rows().into_iter().zip(out.rows_mut()) {
        let max = row.iter().copied().fold(T::NEG_INFINITY, T::max).widen();
        let power = |x: T| (x.widen() - max).exp(); // in the compute type: f32 for f16 and bf16
        let sum: T::Compute = row.iter().copied().map(power).sum();
        for (p, &x) in probabilities.iter_mut().zip(row) {
            *p = T::narrow(power(x) / sum);
        }
    }
}

fn every_variant<T: Real>() -> dahl::Result<()> {
    let rt = Runtime::new()?; // every core, and every CUDA device there is; DAHL_* variables narrow it
    let arena = rt.arena();
    let number = T::from_f64;

    let x = arena.from_slice([3], &[1.0, 2.0, 3.0].map(number))?;
    let mut y = arena.from_slice([3], &[10.0, 20.0, 30.0].map(number))?;
    let mut out: Vector<T> = arena.zeros([3])?;

    axpy(&x, &y, &mut out, number(2.0))?; // into a given output
    let made = axpy_init(&arena, &x, &y, number(2.0))?; // makes its output
    axpy_self(&x, &mut y, number(2.0))?; // over `y`

    let expected = [12.0, 24.0, 36.0].map(number);
    assert_eq!(out.read()?.to_vec(), expected);
    assert_eq!(made.read()?.to_vec(), expected);
    assert_eq!(y.read()?.to_vec(), expected);

    let logits: Matrix<T> = arena.from_slice([2, 2], &[0.0, 0.0, 5.0, 5.0].map(number))?;
    let mut halves = softmax_rows_init(&arena, &logits)?;
    assert!(halves.read()?.iter().all(|&p| p == number(0.5)));
    softmax_rows_self(&mut halves)?; // no in-place kernel was given: the runtime renames the buffer
    assert!(halves.read()?.iter().all(|&p| p == number(0.5)));

    // A wrong shape is an error at the call, and says which op, which shapes and where.
    let short: Vector<T> = arena.zeros([2])?;
    let error = axpy(&x, &short, &mut out, number(1.0)).unwrap_err().to_string();
    assert!(
        error.contains("axpy") && error.contains("[3]") && error.contains("[2]") && error.contains(file!())
    );
    Ok(())
}

fn main() -> dahl::Result<()> {
    every_variant::<f16>()?;
    every_variant::<bf16>()?;
    every_variant::<f32>()?;
    every_variant::<f64>()?;
    println!("{} {:?}", Axpy::NAME, Axpy::MODES);
    Ok(())
}
