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

#[test]
fn different_lengths_are_refused() {
    let rt = Runtime::new().unwrap();
    let mut out = rt.zeros([]).unwrap();
    let (x, y) = (array::<f64, 1>(&rt, [3], 1), array::<f64, 1>(&rt, [2], 1));
    assert_refused(dot(&x, &y, &mut out), &["dot", "[3]", "[2]"]);
}
