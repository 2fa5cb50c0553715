use dahl::ndarray::Axis;
use dahl::ops::{bias, bias_backward, bias_backward_init, bias_init, bias_self};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// The axis after which the bias is added, of images and of matrices.
fn adds_along_every_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1, 1], [2, 3, 5, 7], [3, 1, 4, 1], [0, 2, 3, 1], [4, 3, 1, 1500], [200, 3, 2, 5]] {
        for axis in 0..4 {
            let mut input = array::<T, 4>(&rt, shape, 1);
            let vector = array::<T, 1>(&rt, [shape[axis]], 2);
            let mut out = rt.zeros(shape).unwrap();
            bias(&input, &vector, &mut out, axis).unwrap();
            let made = bias_init(&arena, &input, &vector, axis).unwrap();
            let (before, values) = (exact(&input), exact(&vector));
            bias_self(&mut input, &vector, axis).unwrap();
            let (mut expected, mut magnitude) = (before.clone(), before.mapv(f64::abs));
            for (i, &value) in values.iter().enumerate() {
                expected.index_axis_mut(Axis(axis), i).mapv_inplace(|x| x + value);
                magnitude.index_axis_mut(Axis(axis), i).mapv_inplace(|x| x + value.abs());
            }
            for results in [&out, &made, &input] {
                assert_all_close(results, &expected, &magnitude, 1);
            }
        }
    }
}

fn backward_adds_to_what_is_there<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [200, 3, 1], [5, 7, 11], [0, 3, 2]] {
        for axis in 0..3 {
            let gradient = array::<T, 3>(&rt, shape, 1);
            let mut out = array::<T, 1>(&rt, [shape[axis]], 2);
            let old = exact(&out);
            bias_backward(&gradient, &mut out, axis).unwrap();
            let made = bias_backward_init(&arena, &gradient, axis).unwrap();
            let values = exact(&gradient);
            let sums = |f: fn(f64) -> f64| {
                let sum = |i| values.index_axis(Axis(axis), i).iter().map(|&x| f(x)).sum::<f64>();
                dahl::ndarray::ArrayD::from_shape_fn(vec![shape[axis]], |i| sum(i[0]))
            };
            let (sum, magnitude) = (sums(|x| x), sums(f64::abs));
            assert_all_close(&made, &sum, &magnitude, gradient.len());
            assert_all_close(&out, &(&sum + &old), &(&magnitude + &old.mapv(f64::abs)), gradient.len() + 1);
        }
    }
}

for_each_real!(adds_along_every_axis, backward_adds_to_what_is_there);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (mut input, vector) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 1>(&rt, [2], 1));
    assert_refused(bias_self(&mut input, &vector, 1), &["bias", "[2, 3]", "[2]"]);
    assert_refused(bias_self(&mut input, &vector, 2), &["bias", "[2, 3]"]);
}
