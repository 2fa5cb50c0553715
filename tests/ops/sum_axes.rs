use dahl::ndarray::{ArrayD, Axis};
use dahl::ops::{sum_axes, sum_axes_init};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// The sums of `values` along axes, which stay with extent 1.
fn summed<const A: usize>(values: &ArrayD<f64>, axes: [usize; A]) -> ArrayD<f64> {
    axes.into_iter().fold(values.clone(), |values, axis| values.sum_axis(Axis(axis)).insert_axis(Axis(axis)))
}

fn compare<T: Real, const A: usize>(shape: [usize; 4], axes: [usize; A]) {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<T, 4>(&rt, shape, 1);
    let (sums, magnitude) = (summed(&exact(&input), axes), summed(&exact(&input).mapv(f64::abs), axes));
    let terms = input.len() / sums.len().max(1);
    let made = sum_axes_init(&arena, &input, axes).unwrap();
    assert_all_close(&made, &sums, &magnitude, terms + 1);
    let mut out = array::<T, 4>(&rt, made.shape(), 2);
    let old = exact(&out);
    sum_axes(&input, &mut out, axes).unwrap();
    assert_all_close(&out, &(&sums + &old), &(&magnitude + &old.mapv(f64::abs)), terms + 2);
}

fn along_some_axes<T: Real>() {
    for shape in [[1, 1, 1, 1], [3, 5, 2, 7], [131, 2, 1, 67], [2, 0, 3, 2], [2, 3, 2, 0]] {
        compare::<T, 0>(shape, []);
        compare::<T, 1>(shape, [1]);
        compare::<T, 2>(shape, [0, 2]);
        compare::<T, 2>(shape, [3, 0]);
        compare::<T, 2>(shape, [1, 3]);
        compare::<T, 3>(shape, [0, 1, 3]);
        compare::<T, 4>(shape, [0, 1, 2, 3]);
    }
}

for_each_real!(along_some_axes);

#[test]
fn wrong_axes_and_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, mut out) = (rt.zeros::<f32, 3>([2, 3, 4]).unwrap(), rt.zeros([1, 3, 4]).unwrap());
    assert_refused(sum_axes(&input, &mut out, [0, 2]), &["sum_axes", "[2, 3, 4]", "[1, 3, 4]"]);
    assert_refused(sum_axes_init(&arena, &input, [0, 3]), &["sum_axes", "[0, 3]"]);
    assert_refused(sum_axes_init(&arena, &input, [usize::MAX]), &["sum_axes", "[63]"]);
}
