//! Unusual declarations that keep to the rules.

use dahl::ndarray::{ArrayView, ArrayView2, ArrayViewD, ArrayViewMut, ArrayViewMutD, Ix2};
use dahl::prelude::*;

/// No input: nothing for `_init` to take a shape from.
#[codelet(W)]
pub fn fill_with<T: Element>(value: T) -> T {
    value
}

/// Concrete half precision, computed in `f32`.
#[codelet(R, W)]
pub fn halve(x: f16) -> f16 {
    x * f16::from_f64(0.5)
}

/// Integers, and names that generated code uses too.
#[codelet(R, R, W)]
pub fn choose(task: u8, shapes: u32, views: u32, i: u32) -> u32 {
    let len = shapes + views;
    if task > 0 { len } else { i }
}

/// A name that generated code has for its own.
#[codelet(R, W)]
pub fn map<T: Real>(x: T) -> T {
    x
}

/// The same in kernel form.
#[codelet(R, W)]
pub fn call<T: Real>(x: &[T], out: &mut [T]) {
    out.copy_from_slice(x);
}

/// The bound in a where clause, an array argument, a constant parameter.
#[codelet(R, W)]
pub fn polynomial<T, const K: usize>(x: T, c: T, k: [u8; K]) -> T
where
    T: Real,
{
    let _ = k;
    if x > T::ONE { x } else { c }
}

/// Anything, on the CPU.
#[codelet(R, W, cpu_only)]
pub fn horner<T: Real, const K: usize>(x: T, c: [T; K]) -> T {
    let mut sum = T::ZERO;
    for c in c {
        sum = sum * x + c;
    }
    sum
}

/// A sine and a cosine.
#[codelet(R, W)]
pub fn sum_of_both<T: Real>(x: T) -> T {
    let (sin, cos) = x.sin_cos();
    Real::max(sin, cos) + <T as Real>::from_f64(1.0) + T::PI
}

/// A constant called as the rank would be.
const N: usize = 2;

#[codelet(RW, R, check(x.len() > N), check(x.shape() == y.shape() && scale != T::ZERO), flops = N * x.len())]
pub fn update<T: Real>(x: ArrayViewMutD<T>, y: ArrayViewD<'_, T>, scale: T) {
    let _ = (x, y, scale);
}

#[codelet(COMMUTE, R)]
pub fn accumulate<T: Real>(sum: &mut [T], x: dahl::ndarray::ArrayView2<'_, T>) {
    let _ = (sum, x);
}

#[codelet(R, REDUX(max), REDUX(min), shape(high = []), shape(low = [x.nrows(), 1]))]
pub fn extremes<T: Real>(x: ArrayView<T, Ix2>, high: &mut [T], low: ArrayViewMut<<T as Real>::Compute, Ix2>) {
    let _ = (x, high, low);
}

#[codelet(R, R, W, in_place = y, in_place_kernel = add_in_place, cpu = [add_slowly], shape(out = x))]
fn add<T: Real>(x: ArrayView2<T>, y: ArrayView2<T>, mut out: dahl::ndarray::ArrayViewMut2<T>) {
    out.assign(&x);
    out += &y;
}

fn add_in_place<T: Real>(x: ArrayView2<T>, mut y: dahl::ndarray::ArrayViewMut2<T>) {
    y += &x;
}

fn add_slowly<T: Real>(x: ArrayView2<T>, y: ArrayView2<T>, out: dahl::ndarray::ArrayViewMut2<T>) {
    let _ = (x, y, out);
}

#[test]
fn they_compile_and_compute() -> dahl::Result<()> {
    let rt = Runtime::builder().cpu_workers(1).build()?;
    let arena = rt.arena();
    let x = arena.from_slice([2], &[f16::from_f64(1.0), f16::from_f64(3.0)])?;
    assert_eq!(halve_init(&arena, &x)?.to_vec()?, [f16::from_f64(0.5), f16::from_f64(1.5)]);

    let a = arena.from_slice([1, 2], &[1.0_f32, 2.0])?;
    let mut b = arena.from_slice([1, 2], &[10.0_f32, 20.0])?;
    add_self(&a, &mut b)?;
    assert_eq!(b.to_vec()?, [11.0, 22.0]);
    assert_eq!(horner_init(&arena, &a, [1.0, 0.0, 1.0])?.to_vec()?, [2.0, 5.0]);

    let error = update(&mut b, &a, 1.0).unwrap_err().to_string();
    assert!(
        error.contains("x.len() > N") && error.contains("x.len(): 2") && error.contains(file!()),
        "{error}"
    );
    Ok(())
}
