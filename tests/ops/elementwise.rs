use dahl::ops;
use dahl::prelude::*;

use crate::reference::{array, assert_close, assert_refused};

/// Shapes of which every extent is odd, prime, one or zero.
const SHAPES: [[usize; 2]; 4] = [[1, 1], [0, 3], [7, 1], [31, 67]];

/// Compares `op`, `op_self` and `op_init` of one array with a function of `f64`. `terms` is twice the error in units in
/// the last place of the functions of `Real` that are used, plus one for each operation.
macro_rules! unary {
    ($test:ident: $op:ident, $op_self:ident, $op_init:ident ($($argument:expr),*), |$x:ident| $reference:expr, $terms:expr) => {
        fn $test<T: Real>() {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            for shape in SHAPES {
                let mut x = array::<T, 2>(&rt, shape, 1);
                let mut out = rt.zeros(shape).unwrap();
                ops::$op(&x, &mut out $(, T::from_f64($argument))*).unwrap();
                let made = ops::$op_init(&arena, &x $(, T::from_f64($argument))*).unwrap();
                let before = x.read().unwrap().to_owned();
                ops::$op_self(&mut x $(, T::from_f64($argument))*).unwrap();
                for results in [&out, &made, &x] {
                    for (&result, $x) in results.read().unwrap().iter().zip(before.iter().map(|x| x.to_f64())) {
                        let expected: f64 = $reference;
                        assert_close(result, expected, expected.abs(), $terms);
                    }
                }
            }
        }
    };
}

/// Compares `op`, `op_self` and `op_init` of two arrays with a function of two `f64`.
macro_rules! binary {
    ($test:ident: $op:ident, $op_self:ident, $op_init:ident ($($argument:expr),*), over $target:tt,
     |$x:ident, $y:ident| $reference:expr, $magnitude:expr, $terms:expr) => {
        fn $test<T: Real>() {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            for shape in SHAPES {
                #[allow(unused_mut, reason = "which of the two is overwritten depends on the op")]
                let (mut x, mut y) = (array::<T, 2>(&rt, shape, 1), array::<T, 2>(&rt, shape, 2));
                let mut out = rt.zeros(shape).unwrap();
                ops::$op(&x, &y, &mut out $(, T::from_f64($argument))*).unwrap();
                let made = ops::$op_init(&arena, &x, &y $(, T::from_f64($argument))*).unwrap();
                let before = (x.read().unwrap().to_owned(), y.read().unwrap().to_owned());
                let overwritten = binary!(@over $target $op_self, x, y $(, T::from_f64($argument))*);
                for results in [&out, &made, overwritten] {
                    for ((&result, $x), $y) in results.read().unwrap().iter().zip(&before.0).zip(&before.1) {
                        let ($x, $y) = ($x.to_f64(), $y.to_f64());
                        let (expected, magnitude): (f64, f64) = ($reference, $magnitude);
                        assert_close(result, expected, magnitude.abs(), $terms);
                    }
                }
            }
        }
    };
    (@over first $op_self:ident, $x:ident, $y:ident $($argument:tt)*) => {{
        ops::$op_self(&mut $x, &$y $($argument)*).unwrap();
        &$x
    }};
    (@over second $op_self:ident, $x:ident, $y:ident $($argument:tt)*) => {{
        ops::$op_self(&$x, &mut $y $($argument)*).unwrap();
        &$y
    }};
}

binary!(add: add, add_self, add_init(), over first, |x, y| x + y, x.abs() + y.abs(), 1);
binary!(sub: sub, sub_self, sub_init(), over first, |x, y| x - y, x.abs() + y.abs(), 1);
binary!(mul: mul, mul_self, mul_init(), over first, |x, y| x * y, x * y, 1);
binary!(div: div, div_self, div_init(), over first, |x, y| x / y, x / y, 1);
binary!(axpy: axpy, axpy_self, axpy_init(0.75), over second, |x, y| 0.75 * x + y, x.abs() + y.abs(), 2);
binary!(relu_backward: relu_backward, relu_backward_self, relu_backward_init(), over second,
    |x, y| if x > 0.0 { y } else { 0.0 }, 0.0, 1);
binary!(sigmoid_backward: sigmoid_backward, sigmoid_backward_self, sigmoid_backward_init(), over second,
    |x, y| y * x * (1.0 - x), y * x.abs() * (1.0 + x.abs()), 3);
unary!(scale: scale, scale_self, scale_init(0.75), |x| 0.75 * x, 1);
unary!(add_value: add_value, add_value_self, add_value_init(0.75), |x| x + 0.75, 1);
unary!(exp: exp, exp_self, exp_init(), |x| x.exp(), 8);
unary!(ln: ln, ln_self, ln_init(), |x| x.ln(), 8);
unary!(sqrt: sqrt, sqrt_self, sqrt_init(), |x| x.sqrt(), 1);
unary!(tanh: tanh, tanh_self, tanh_init(), |x| x.tanh(), 8);
unary!(sigmoid: sigmoid, sigmoid_self, sigmoid_init(), |x| 1.0 / (1.0 + (-x).exp()), 12);
unary!(relu: relu, relu_self, relu_init(), |x| x.max(0.0), 1);

for_each_real!(
    add,
    sub,
    mul,
    div,
    axpy,
    scale,
    add_value,
    exp,
    ln,
    sqrt,
    tanh,
    sigmoid,
    sigmoid_backward,
    relu,
    relu_backward
);

fn extents_of_one_stretch<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (column, row) = (array::<T, 2>(&rt, [5, 1], 1), array::<T, 2>(&rt, [1, 3], 2));
    let sum = ops::add_init(&arena, &column, &row).unwrap();
    let (sum, column, row) = (sum.read().unwrap(), column.read().unwrap(), row.read().unwrap());
    assert_eq!(sum.shape(), [5, 3]);
    for ((i, j), &sum) in sum.indexed_iter() {
        assert_eq!(sum, T::narrow(column[[i, 0]].widen() + row[[0, j]].widen()));
    }
}

fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let number = T::from_f64;
    let x = rt
        .from_vec([5], [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0].map(number).to_vec())
        .unwrap();
    let bits = |array: Vector<'_, T>| array.read().unwrap().iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let assert_are = |array: Vector<'_, T>, expected: [f64; 5]| {
        for (actual, expected) in bits(array).into_iter().zip(expected) {
            assert!(actual.is_nan() && expected.is_nan() || actual == expected, "{actual} is not {expected}");
        }
    };
    let infinity = f64::INFINITY;
    assert_are(ops::relu_init(&arena, &x).unwrap(), [f64::NAN, infinity, 0.0, 0.0, 0.0]);
    assert_are(ops::sigmoid_init(&arena, &x).unwrap(), [f64::NAN, 1.0, 0.0, 0.5, 0.5]);
    assert_are(ops::tanh_init(&arena, &x).unwrap(), [f64::NAN, 1.0, -1.0, 0.0, 0.0]);
    assert_are(ops::exp_init(&arena, &x).unwrap(), [f64::NAN, infinity, 0.0, 1.0, 1.0]);
    assert_are(ops::ln_init(&arena, &x).unwrap(), [f64::NAN, infinity, f64::NAN, -infinity, -infinity]);
    assert_are(ops::sqrt_init(&arena, &x).unwrap(), [f64::NAN, infinity, f64::NAN, 0.0, 0.0]);
    let root = ops::sqrt_init(&arena, &x).unwrap();
    assert!(root.read().unwrap()[3].is_sign_negative(), "sqrt(-0) is -0 (IEEE 754)");
    let large = rt.from_vec([2], [-1000.0, 1000.0].map(number).to_vec()).unwrap();
    assert_eq!(bits(ops::sigmoid_init(&arena, &large).unwrap()), [0.0, 1.0]);
}

for_each_real!(extents_of_one_stretch, special_values);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (x, y) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 2>(&rt, [3, 2], 1));
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(ops::add(&x, &y, &mut out), &["add", "[2, 3]", "[3, 2]"]);
    assert_refused(ops::axpy(&x, &y, &mut out, 1.0), &["axpy", "[2, 3]", "[3, 2]"]);
    assert_refused(ops::exp(&y, &mut out), &["exp", "[2, 3]", "[3, 2]"]);
}
