use dahl::ops;
use dahl::prelude::*;

use crate::reference::{along, array, assert_all_close, assert_close, assert_refused, exact};

const SHAPES: [[usize; 3]; 5] = [[1, 1, 1], [2, 3, 5], [131, 7, 1], [1, 2, 1031], [3, 67, 11]];

fn whole<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in SHAPES {
        let input = array::<T, 3>(&rt, shape, 1);
        let (values, count) = (exact(&input), input.len());
        let magnitude = values.mapv(f64::abs).sum();

        let mut total: Scalar<T> = rt.from_vec([], vec![T::ONE]).unwrap();
        ops::sum(&input, &mut total).unwrap();
        assert_close(total.read().unwrap()[[]], values.sum() + 1.0, magnitude + 1.0, count + 1);
        let made = ops::sum_init(&arena, &input).unwrap();
        assert_close(made.read().unwrap()[[]], values.sum(), magnitude, count);

        let mean = ops::mean_init(&arena, &input).unwrap();
        let (expected, magnitude) = (values.sum() / count as f64, magnitude / count as f64);
        assert_close(mean.read().unwrap()[[]], expected, magnitude, count + 1);

        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = ops::max_init(&arena, &input).unwrap();
        let min = ops::min_init(&arena, &input).unwrap();
        assert_eq!((max.read().unwrap()[[]].to_f64(), min.read().unwrap()[[]].to_f64()), (largest, smallest));
    }
}

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in SHAPES {
        for axis in 0..3 {
            let input = array::<T, 3>(&rt, shape, 1);
            let (values, extent) = (exact(&input), shape[axis]);
            let sums = along(&values, axis, |lane| lane.iter().sum());
            let magnitude = along(&values, axis, |lane| lane.iter().map(|x| x.abs()).sum());

            let made = ops::sum_axis_init(&arena, &input, axis).unwrap();
            assert_all_close(&made, &sums, &magnitude, extent);
            let mut out = array::<T, 3>(&rt, made.shape(), 2);
            let old = exact(&out);
            ops::sum_axis(&input, &mut out, axis).unwrap();
            assert_all_close(&out, &(&sums + &old), &(&magnitude + &old.mapv(f64::abs)), extent + 1);
            let means = ops::mean_axis_init(&arena, &input, axis).unwrap();
            assert_all_close(&means, &(&sums / extent as f64), &(&magnitude / extent as f64), extent + 1);

            let largest = |lane: &[f64]| lane.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let smallest = |lane: &[f64]| lane.iter().copied().fold(f64::INFINITY, f64::min);
            let first = |lane: &[f64]| lane.iter().position(|&x| x == largest(lane)).unwrap() as f64;
            assert_eq!(
                exact(&ops::max_axis_init(&arena, &input, axis).unwrap()),
                along(&values, axis, largest)
            );
            assert_eq!(
                exact(&ops::min_axis_init(&arena, &input, axis).unwrap()),
                along(&values, axis, smallest)
            );
            let places = ops::arg_max_init(&arena, &input, axis).unwrap();
            let places = places.read().unwrap().mapv(f64::from).into_dyn();
            assert_eq!(places, along(&values, axis, first));
        }
    }
}

fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let rows = [[1.0, f64::NAN, 3.0], [f64::NEG_INFINITY, -0.0, 0.0], [2.0, 2.0, 1.0]];
    let input = rt.from_vec([3, 3], rows.concat().into_iter().map(T::from_f64).collect()).unwrap();
    let column = |array: Matrix<'_, T>| array.read().unwrap().iter().map(|x| x.to_f64()).collect::<Vec<_>>();
    let max = column(ops::max_axis_init(&arena, &input, 1).unwrap());
    assert!(max[0].is_nan() && max[1] == 0.0 && max[1].is_sign_positive() && max[2] == 2.0);
    let min = column(ops::min_axis_init(&arena, &input, 1).unwrap());
    assert!(min[0].is_nan() && min[1] == f64::NEG_INFINITY && min[2] == 1.0);
    assert!(ops::max_init(&arena, &input).unwrap().read().unwrap()[[]].is_nan());
    let places = ops::arg_max_init(&arena, &input, 1).unwrap();
    assert_eq!(
        places.read().unwrap().iter().copied().collect::<Vec<_>>(),
        [1, 1, 0],
        "first of equal ones, or NaN"
    );

    let empty: Matrix<T> = rt.zeros([0, 3]).unwrap();
    assert_eq!(ops::sum_init(&arena, &empty).unwrap().read().unwrap()[[]], T::ZERO);
    assert_eq!(ops::max_init(&arena, &empty).unwrap().read().unwrap()[[]], T::NEG_INFINITY);
    assert!(ops::mean_init(&arena, &empty).unwrap().read().unwrap()[[]].is_nan());
    assert_eq!(column(ops::sum_axis_init(&arena, &empty, 0).unwrap()), [0.0; 3]);
}

/// If terms are added one by one, 16-bit sums stop at 2,048 or 256; rounded once, they are exact.
fn long_sums_stay_accurate<T: Real>() {
    let rt = Runtime::new().unwrap();
    let ones: Matrix<T> = rt.from_vec([20_000, 3], vec![T::ONE; 60_000]).unwrap();
    let arena = rt.arena();
    let total = ops::sum_init(&arena, &ones).unwrap();
    assert_eq!(total.read().unwrap()[[]], T::from_f64(60_000.0));
    let sums = ops::sum_axis_init(&arena, &ones, 0).unwrap();
    assert!(sums.read().unwrap().iter().all(|&sum| sum == T::from_f64(20_000.0)));
}

/// If terms are added one by one in f32, ten million times a tenth is 1,087,937.
fn millions_of_terms<T: Real>() {
    // Ten million in `f32`, which is the most relevant; fewer in types that take longer.
    let count = if T::NAME == "f32" { 10_000_000 } else { 1_000_000 };
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let tenth = T::from_f64(0.1).to_f64();
    let ones = rt.from_vec([count], vec![T::ONE; count]).unwrap();
    let tenths = rt.from_vec([count], vec![T::from_f64(0.1); count]).unwrap();
    let near = |actual: T, expected: f64| assert_close(actual, expected, expected, 100);
    assert_eq!(ops::sum_init(&arena, &ones).unwrap().read().unwrap()[[]], T::from_f64(count as f64));
    assert_eq!(ops::mean_init(&arena, &ones).unwrap().read().unwrap()[[]], T::ONE);
    near(ops::sum_init(&arena, &tenths).unwrap().read().unwrap()[[]], count as f64 * tenth);
    near(ops::norm_l1_init(&arena, &tenths).unwrap().read().unwrap()[[]], count as f64 * tenth);
    near(ops::dot_init(&arena, &ones, &tenths).unwrap().read().unwrap()[[]], count as f64 * tenth);
    for shape in [[count, 1], [1, count], [1000, count / 1000], [count / 2, 2]] {
        let (ones, tenths) = (ones.reshaped(shape).unwrap(), tenths.reshaped(shape).unwrap());
        for (axis, extent) in shape.into_iter().enumerate() {
            let extent = extent as f64;
            let sums = ops::sum_axis_init(&arena, &ones, axis).unwrap().to_vec().unwrap();
            assert!(sums.into_iter().all(|sum| sum == T::from_f64(extent)));
            let sums = ops::sum_axis_init(&arena, &tenths, axis).unwrap().to_vec().unwrap();
            sums.into_iter().for_each(|sum| near(sum, extent * tenth));
            let means = ops::mean_axis_init(&arena, &tenths, axis).unwrap().to_vec().unwrap();
            means.into_iter().for_each(|mean| near(mean, tenth));
            let gradients = ops::bias_backward_init(&arena, &tenths, axis).unwrap().to_vec().unwrap();
            gradients.into_iter().for_each(|sum| near(sum, count as f64 / extent * tenth));
        }
    }
    let images = tenths.reshaped([count / 10, 5, 2]).unwrap();
    let gradients = ops::bias_backward_init(&arena, &images, 1).unwrap().to_vec().unwrap();
    gradients.into_iter().for_each(|sum| near(sum, count as f64 / 5.0 * tenth));
}

/// The sum is infinite, the mean is not.
fn means_of_the_largest_numbers<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([4, 2], vec![T::MAX; 8]).unwrap();
    assert_eq!(ops::mean_init(&arena, &input).unwrap().to_vec().unwrap(), [T::MAX]);
    assert_eq!(ops::mean_axis_init(&arena, &input, 0).unwrap().to_vec().unwrap(), [T::MAX; 2]);
}

/// The elements of one lane do not affect the mean of another, not even the order of its additions.
fn means_of_lanes_apart<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let large = T::from_f64(2.0) / T::EPSILON;
    let mean_beside = |other: T| {
        let input = rt.from_vec([3, 2], vec![other, large, T::ONE, T::ONE, T::ONE, -large]).unwrap();
        ops::mean_axis_init(&arena, &input, 0).unwrap().to_vec().unwrap()[1].to_f64()
    };
    for other in [T::NAN, T::INFINITY, T::MAX] {
        assert_eq!(mean_beside(other), mean_beside(T::ONE));
    }
    let none = rt.zeros::<T, 2>([0, 3]).unwrap();
    assert!(
        ops::mean_axis_init(&arena, &none, 0).unwrap().to_vec().unwrap().iter().all(|mean| mean.is_nan())
    );
}

for_each_real!(millions_of_terms, means_of_the_largest_numbers, means_of_lanes_apart);
for_each_real!(whole, along_each_axis, special_values, long_sums_stay_accurate);

#[test]
fn integers_have_extremes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 2], vec![3_i32, -5, 7, 0]).unwrap();
    assert_eq!(ops::max_init(&arena, &input).unwrap().read().unwrap()[[]], 7);
    assert_eq!(ops::min_init(&arena, &input).unwrap().read().unwrap()[[]], -5);
    assert_eq!(ops::arg_max_init(&arena, &input, 0).unwrap().read().unwrap()[[0, 1]], 1);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(ops::sum_axis(&input, &mut out, 0), &["sum_axis", "[2, 3]", "[1, 3]"]);
    assert_refused(ops::max_axis_init(&arena, &input, 2), &["max_axis", "[2, 3]"]);
    assert_refused(
        ops::arg_max_init(&arena, &rt.zeros::<f32, 2>([2, 0]).unwrap(), 1),
        &["arg_max", "[2, 0]"],
    );
}
