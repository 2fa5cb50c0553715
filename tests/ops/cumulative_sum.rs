use dahl::ndarray::Axis;
use dahl::ops::{cumulative_sum, cumulative_sum_backward_init, cumulative_sum_init};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [3, 10, 1], [0, 2, 3], [2, 0, 3], [5, 7, 67]] {
        let input = array::<T, 3>(&rt, shape, 1);
        for axis in 0..3 {
            let (mut sums, mut magnitude) = (exact(&input), exact(&input).mapv(f64::abs));
            for values in [&mut sums, &mut magnitude] {
                values.accumulate_axis_inplace(Axis(axis), |before, value| *value += before);
            }
            let mut out = rt.zeros(shape).unwrap();
            cumulative_sum(&input, &mut out, axis).unwrap();
            let made = cumulative_sum_init(&arena, &input, axis).unwrap();
            for results in [&out, &made] {
                assert_all_close(results, &sums, &magnitude, shape[axis]);
            }

            let (mut sums, mut magnitude) = (exact(&input), exact(&input).mapv(f64::abs));
            for values in [&mut sums, &mut magnitude] {
                values.invert_axis(Axis(axis));
                values.accumulate_axis_inplace(Axis(axis), |before, value| *value += before);
                values.invert_axis(Axis(axis));
            }
            let made = cumulative_sum_backward_init(&arena, &input, axis).unwrap();
            assert_all_close(&made, &sums, &magnitude, shape[axis]);
        }
    }
}

/// If terms are added one by one, the sum stops at 2,048 in `f16`, and at 256 in `bf16`.
fn many_terms<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([50_000], vec![T::from_f64(0.75); 50_000]).unwrap();
    let made = cumulative_sum_init(&arena, &input, 0).unwrap();
    assert_eq!(made.to_vec().unwrap()[49_999], T::from_f64(37_500.0));
}

for_each_real!(along_each_axis, many_terms);

/// If terms are added one by one in f32, `1e8 + 1 + .. + 1` stays `1e8`.
#[test]
fn small_terms_after_a_large_one() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let mut values = vec![1.0_f32; 1001];
    values[0] = 1e8;
    let input = rt.from_vec([1001], values).unwrap();
    assert_eq!(cumulative_sum_init(&arena, &input, 0).unwrap().to_vec().unwrap()[1000], 1e8 + 1000.0);
}

#[test]
fn special_values() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let infinity = f32::INFINITY;
    let input = rt.from_vec([4], vec![1.0, infinity, 2.0, -infinity]).unwrap();
    let made = cumulative_sum_init(&arena, &input, 0).unwrap().to_vec().unwrap();
    assert_eq!(made[..3], [1.0, infinity, infinity]);
    assert!(made[3].is_nan());
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(cumulative_sum(&input, &mut rt.zeros([3, 2]).unwrap(), 1), &["cumulative_sum", "[3, 2]"]);
    assert_refused(cumulative_sum_init(&rt.arena(), &input, 2), &["cumulative_sum", "[2, 3]"]);
}
