use dahl::ndarray::{ArrayD, ArrayViewD, Axis, IxDyn};
use dahl::ops::{
    layer_norm, layer_norm_backward_input_init, layer_norm_backward_weight_init, layer_norm_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// Roundings of a row beside its sums. The rows below have deviations from 0.5 to 2, and means below 2.
const UNITS: usize = 48;

/// Along the last axis.
pub(crate) fn means(values: &ArrayD<f64>) -> ArrayD<f64> {
    let last = values.ndim() - 1;
    let extent = values.shape()[last] as f64;
    (values.sum_axis(Axis(last)) / extent).insert_axis(Axis(last))
}

/// The normalized rows, and the factor of each.
fn normalized(input: &ArrayD<f64>, epsilon: f64) -> [ArrayD<f64>; 2] {
    let centred = input - &means(input);
    let factor = means(&centred.mapv(|value| value * value)).mapv(|square| (square + epsilon).sqrt().recip());
    [centred * &factor, factor]
}

fn of_rows<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 2], [2, 3, 7], [0, 2, 3], [2, 0, 3], [3, 5, 131]] {
        let extent = shape[2];
        let (input, gradient) = (array::<T, 3>(&rt, shape, 1), array::<T, 3>(&rt, shape, 4));
        let (weight, bias) = (array::<T, 1>(&rt, [extent], 2), array::<T, 1>(&rt, [extent], 3));
        let [y, factor] = normalized(&exact(&input), 0.5);
        let (w, b) = (exact(&weight), exact(&bias));
        let expected = &y * &w + &b;
        let magnitude = (y.mapv(f64::abs) + 4.0) * &w.mapv(f64::abs) + &b.mapv(f64::abs);

        let mut out = rt.zeros(shape).unwrap();
        layer_norm(&input, &weight, &bias, &mut out, 0.5).unwrap();
        let made = layer_norm_init(&arena, &input, &weight, &bias, 0.5).unwrap();
        for results in [&out, &made] {
            assert_all_close(results, &expected, &magnitude, extent + UNITS);
        }

        let g = exact(&gradient) * &w;
        let by_input = (&g - &means(&g) - &y * &means(&(&g * &y))) * &factor;
        let made = layer_norm_backward_input_init(&arena, &input, &weight, &gradient, 0.5).unwrap();
        let magnitude = by_input.mapv(|value| value.abs() + 64.0);
        assert_all_close(&made, &by_input, &magnitude, extent + UNITS);

        let products = exact(&gradient) * &y;
        let sum = |values: ArrayViewD<'_, f64>| values.sum_axis(Axis(0)).sum_axis(Axis(0));
        let made = layer_norm_backward_weight_init(&arena, &input, &gradient, 0.5).unwrap();
        let magnitude = sum(products.mapv(|value| value.abs() + 8.0).view());
        assert_all_close(&made, &sum(products.view()), &magnitude, shape[0] * shape[1] + extent + UNITS);
    }
}

/// A mean of 1,000 deviations: no digits of the deviations are lost but those that the input lost.
fn far_from_zero<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let step = 256.0 * T::EPSILON.to_f64();
    let values = (0..64).map(|i| T::from_f64(1.0 + step * f64::from(i % 2))).collect::<Vec<_>>();
    let input = rt.from_vec([1, 64], values).unwrap();
    let (weight, bias) = (rt.from_vec([64], vec![T::ONE; 64]).unwrap(), rt.zeros([64]).unwrap());
    let made = layer_norm_init(&arena, &input, &weight, &bias, 0.0).unwrap();
    let expected = ArrayD::from_shape_fn(IxDyn(&[1, 64]), |at| if at[1] % 2 == 0 { -1.0 } else { 1.0 });
    assert_all_close(&made, &expected, &expected, 16);
}

/// The squares overflow or underflow, but the result does not.
fn large_and_small<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (large, small) = (T::MAX, T::MIN_POSITIVE);
    let input = rt.from_vec([2, 2], vec![large, -large, small, -small]).unwrap();
    let (weight, bias) = (rt.from_vec([2], vec![T::ONE; 2]).unwrap(), rt.zeros([2]).unwrap());
    let made = exact(&layer_norm_init(&arena, &input, &weight, &bias, 0.0).unwrap());
    assert_eq!(made.as_slice().unwrap(), [1.0, -1.0, 1.0, -1.0]);
}

fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let rows = [[f64::NAN, 0.0], [f64::INFINITY, 0.0], [3.0, 3.0]].concat();
    let input = rt.from_vec([3, 2], rows.into_iter().map(T::from_f64).collect()).unwrap();
    let (weight, bias) =
        (rt.from_vec([2], vec![T::ONE; 2]).unwrap(), rt.from_vec([2], vec![T::ONE; 2]).unwrap());
    let made = exact(&layer_norm_init(&arena, &input, &weight, &bias, 1e-5).unwrap());
    assert!(made.iter().take(4).all(|value| value.is_nan()), "{made}");
    assert_eq!(made.as_slice().unwrap()[4..], [1.0, 1.0]);
}

for_each_real!(of_rows, far_from_zero, large_and_small, special_values);

#[test]
fn wrong_arguments_are_refused() {
    let rt = Runtime::new().unwrap();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    let (weight, bias) = (array::<f32, 1>(&rt, [3], 1), array::<f32, 1>(&rt, [2], 1));
    let mut out = rt.zeros([2, 3]).unwrap();
    assert_refused(layer_norm(&input, &weight, &bias, &mut out, 0.5), &["layer_norm", "[3]", "[2]"]);
    assert_refused(layer_norm(&input, &bias, &bias, &mut out, 0.5), &["layer_norm", "[2, 3]", "[2]"]);
    assert_refused(layer_norm(&input, &weight, &weight, &mut out, -1.0), &["layer_norm", "-1"]);
    assert_refused(layer_norm(&input, &weight, &weight, &mut out, f64::NAN), &["layer_norm", "NaN"]);
}
