use dahl::ndarray::{ArrayViewD, Axis};
use dahl::ops::{rms_norm, rms_norm_backward_input_init, rms_norm_backward_weight_init, rms_norm_init};
use dahl::prelude::*;

use crate::layer_norm::means;
use crate::reference::{array, assert_all_close, assert_refused, exact};

/// Roundings of a row beside its sums.
const UNITS: usize = 48;

fn of_rows<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 7], [0, 2, 3], [2, 0, 3], [3, 5, 131]] {
        let extent = shape[2];
        let (input, gradient) = (array::<T, 3>(&rt, shape, 1), array::<T, 3>(&rt, shape, 3));
        let weight = array::<T, 1>(&rt, [extent], 2);
        let (x, w) = (exact(&input), exact(&weight));
        let factor = means(&x.mapv(|value| value * value)).mapv(|square| (square + 0.5).sqrt().recip());
        let y = &x * &factor;

        let mut out = rt.zeros(shape).unwrap();
        rms_norm(&input, &weight, &mut out, 0.5).unwrap();
        let made = rms_norm_init(&arena, &input, &weight, 0.5).unwrap();
        for results in [&out, &made] {
            assert_all_close(results, &(&y * &w), &(&y * &w).mapv(f64::abs), extent + UNITS);
        }

        let g = exact(&gradient) * &w;
        let by_input = (&g - &y * &means(&(&g * &y))) * &factor;
        let made = rms_norm_backward_input_init(&arena, &input, &weight, &gradient, 0.5).unwrap();
        let magnitude = by_input.mapv(|value| value.abs() + 32.0);
        assert_all_close(&made, &by_input, &magnitude, extent + UNITS);

        let products = exact(&gradient) * &y;
        let sum = |values: ArrayViewD<'_, f64>| values.sum_axis(Axis(0)).sum_axis(Axis(0));
        let made = rms_norm_backward_weight_init(&arena, &input, &gradient, 0.5).unwrap();
        let magnitude = sum(products.mapv(f64::abs).view());
        assert_all_close(&made, &sum(products.view()), &magnitude, shape[0] * shape[1] + extent + UNITS);
    }
}

/// The squares overflow or underflow, but the result does not.
fn large_and_small<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (large, small) = (T::MAX, T::MIN_POSITIVE);
    let input = rt.from_vec([2, 2], vec![large, -large, small, -small]).unwrap();
    let weight = rt.from_vec([2], vec![T::ONE; 2]).unwrap();
    let made = exact(&rms_norm_init(&arena, &input, &weight, 0.0).unwrap());
    assert_eq!(made.as_slice().unwrap(), [1.0, -1.0, 1.0, -1.0]);
}

for_each_real!(of_rows, large_and_small);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let (input, weight) = (array::<f32, 2>(&rt, [2, 3], 1), array::<f32, 1>(&rt, [2], 1));
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(rms_norm(&input, &weight, &mut out, 0.5), &["rms_norm", "[2, 3]", "[2]"]);
}
