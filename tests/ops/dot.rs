use dahl::ops::codelets::Dot;
use dahl::ops::{dot, dot_init};
use dahl::prelude::*;

use crate::reference::{array, assert_close, assert_refused, exact};

fn adds_the_inner_product<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for length in [0, 1, 2, 31, 1024, 4099] {
        let (x, y) = (array::<T, 1>(&rt, [length], 1), array::<T, 1>(&rt, [length], 2));
        let mut out: Scalar<T> = rt.from_vec([], vec![T::ONE]).unwrap();
        dot(&x, &y, &mut out).unwrap();
        let made = dot_init(&arena, &x, &y).unwrap();
        let products = exact(&x) * exact(&y);
        let (sum, magnitude) = (products.sum(), products.mapv(f64::abs).sum());
        assert_close(made.read().unwrap()[[]], sum, magnitude, length + 1);
        assert_close(out.read().unwrap()[[]], sum + 1.0, magnitude + 1.0, length + 2);
    }
}

for_each_real!(adds_the_inner_product);

fn the_c_kernel_adds_the_inner_product<T: Real>() {
    let rt = Runtime::new().unwrap();
    for length in [0, 1, 7, 8, 9, 1024, 4099] {
        let (x, y) = (array::<T, 1>(&rt, [length], 1), array::<T, 1>(&rt, [length], 2));
        let mut out: Scalar<T> = rt.from_vec([], vec![T::ONE]).unwrap();
        Dot::task(&x, &y, &mut out).kernel("dot_c").submit().unwrap();
        let products = exact(&x) * exact(&y);
        // Summed in double: for f32 the only roundings are those of the result, whatever the length.
        let (sum, magnitude) = (products.sum(), products.mapv(f64::abs).sum());
        assert_close(out.read().unwrap()[[]], sum + 1.0, magnitude + 1.0, 2);
    }
}

#[test]
fn the_c_kernel_in_f32() {
    the_c_kernel_adds_the_inner_product::<f32>();
}

#[test]
fn the_c_kernel_in_f64() {
    the_c_kernel_adds_the_inner_product::<f64>();
}

#[test]
fn the_c_kernel_exists_for_f32_and_f64_only() {
    let rt = Runtime::new().unwrap();
    let (x, y) = (array::<f16, 1>(&rt, [3], 1), array::<f16, 1>(&rt, [3], 1));
    let mut out = rt.zeros([]).unwrap();
    assert_refused(
        Dot::task(&x, &y, &mut out).kernel("dot_c").submit(),
        &["dot", "no kernel `dot_c` for f16", "rust"],
    );
}

#[test]
fn different_lengths_are_refused() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros([]).unwrap();
    let (x, y) = (array::<f64, 1>(&rt, [3], 1), array::<f64, 1>(&rt, [2], 1));
    assert_refused(dot(&x, &y, &mut out), &["dot", "[3]", "[2]"]);
}
