use dahl::ndarray::Axis;
use dahl::ops::{
    norm, norm_axis_backward_init, norm_axis_init, norm_backward_init, norm_init, norm_l1, norm_l1_axis_init,
    norm_l1_init,
};
use dahl::prelude::*;

use crate::reference::{along, array, assert_all_close, assert_close, assert_refused, exact};

fn euclidean(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn along_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [131, 7, 1], [1, 2, 1031], [3, 67, 19], [0, 2, 3]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let values = exact(&input);
        let (expected, sum) =
            (euclidean(&values.iter().copied().collect::<Vec<_>>()), values.mapv(f64::abs).sum());
        let whole = norm_init(&arena, &input).unwrap();
        assert_close(whole.read().unwrap()[[]], expected, expected, input.len() + 4);
        let mut total = rt.from_vec([], vec![T::ONE]).unwrap();
        norm_l1(&input, &mut total).unwrap();
        assert_close(total.read().unwrap()[[]], sum + 1.0, sum + 1.0, input.len() + 1);
        for (axis, extent) in shape.into_iter().enumerate() {
            let norms = along(&values, axis, euclidean);
            let made = norm_axis_init(&arena, &input, axis).unwrap();
            assert_all_close(&made, &norms, &norms, extent + 4);
            let sums = along(&values, axis, |lane| lane.iter().map(|x| x.abs()).sum());
            assert_all_close(&norm_l1_axis_init(&arena, &input, axis).unwrap(), &sums, &sums, extent + 1);

            let gradient = array::<T, 3>(&rt, made.shape(), 2);
            let made = norm_axis_backward_init(&arena, &input, &gradient, axis).unwrap();
            let expected = &values / &norms * exact(&gradient);
            assert_all_close(&made, &expected, &expected.mapv(f64::abs), extent + 8);
        }
    }
}

/// The squares overflow or vanish in the element type, and in the compute type where that is the same.
fn only_the_value_overflows<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let largest = T::from_f64(T::MAX.to_f64() / 4.0);
    let smallest = T::from_f64(T::MIN_POSITIVE.to_f64() * T::EPSILON.to_f64());
    for value in [largest, smallest] {
        let input = rt.from_vec([4], vec![value; 4]).unwrap();
        assert_eq!(norm_init(&arena, &input).unwrap().read().unwrap()[[]].to_f64(), 2.0 * value.to_f64());
        let gradient = rt.from_vec([], vec![T::ONE]).unwrap();
        let made = norm_backward_init(&arena, &input, &gradient).unwrap();
        assert_eq!(exact(&made).as_slice().unwrap(), [0.5; 4]);
    }
    let input = rt.from_vec([2], vec![T::MAX, T::MAX]).unwrap();
    assert_eq!(norm_init(&arena, &input).unwrap().read().unwrap()[[]], T::INFINITY);
}

fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let of = |values: [f64; 2]| {
        let input = rt.from_vec([2], values.map(T::from_f64).to_vec()).unwrap();
        norm_init(&arena, &input).unwrap().read().unwrap()[[]].to_f64()
    };
    assert_eq!(of([f64::NEG_INFINITY, 1.0]), f64::INFINITY);
    assert!(of([f64::INFINITY, f64::NAN]).is_nan() && of([f64::NAN, 0.0]).is_nan());
    assert_eq!((of([0.0, -0.0]), of([3.0, -4.0])), (0.0, 5.0));
    let zero = rt.zeros::<T, 1>([3]).unwrap();
    let gradient = rt.from_vec([], vec![T::ONE]).unwrap();
    assert_eq!(norm_backward_init(&arena, &zero, &gradient).unwrap().to_vec().unwrap(), [T::ZERO; 3]);
}

for_each_real!(along_each_axis, only_the_value_overflows, special_values);

#[test]
fn strided_parts_and_wrong_shapes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 3], vec![9.0_f32, 3.0, 0.0, 9.0, -4.0, 0.0]).unwrap();
    let columns = input.partition_by(Axis(1), &[1, 2]).unwrap();
    assert_eq!(norm_axis_init(&arena, &columns[1], 0).unwrap().to_vec().unwrap(), [5.0, 0.0]);
    assert_eq!(norm_l1_init(&arena, &columns[1]).unwrap().to_vec().unwrap(), [7.0]);
    assert_refused(norm_axis_init(&arena, &input, 2), &["norm_axis", "[2, 3]"]);
    let other = rt.zeros([2, 1]).unwrap();
    assert_refused(norm_axis_backward_init(&arena, &input, &other, 0), &["norm_axis_backward", "[2, 1]"]);
    norm(&input, &mut rt.zeros([]).unwrap()).unwrap();
}
