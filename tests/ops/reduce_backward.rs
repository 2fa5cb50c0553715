use dahl::ndarray::Axis;
use dahl::ops;
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn sums_and_means<T: Real>() {
    let rt = Runtime::new().unwrap();
    for shape in [[1, 1, 1], [2, 3, 5], [0, 3, 2], [4, 1, 7]] {
        let values = exact(&array::<T, 3>(&rt, shape, 1));
        let mut out = array::<T, 3>(&rt, shape, 1);
        let whole = rt.from_vec([], vec![T::from_f64(3.0)]).unwrap();
        ops::sum_backward(&whole, &mut out).unwrap();
        assert_eq!(exact(&out), values.mapv(|_| 3.0));
        ops::mean_backward(&whole, &mut out).unwrap();
        assert_eq!(exact(&out), values.mapv(|_| T::from_f64(3.0 / values.len() as f64).to_f64()));
        for axis in 0..3 {
            let mut reduced = shape;
            reduced[axis] = 1;
            let gradient = array::<T, 3>(&rt, reduced, 2);
            let stretched = exact(&gradient).broadcast(values.raw_dim()).unwrap().to_owned();
            ops::sum_axis_backward(&gradient, &mut out, axis).unwrap();
            assert_eq!(exact(&out), stretched);
            ops::mean_axis_backward(&gradient, &mut out, axis).unwrap();
            let nearest = |x: f64| {
                let count = <T::Compute as Real>::from_f64(shape[axis] as f64);
                T::narrow(T::from_f64(x).widen() / count).to_f64()
            };
            assert_eq!(exact(&out), stretched.mapv(nearest));
        }
    }
}

fn extremes<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [2, 3, 5], [0, 3, 2], [17, 1, 7]] {
        let input = array::<T, 3>(&rt, shape, 1);
        for axis in 0..3 {
            let mut reduced = shape;
            reduced[axis] = 1;
            let gradient = array::<T, 3>(&rt, reduced, 2);
            let highest = ops::max_axis_backward_init(&arena, &input, &gradient, axis).unwrap();
            let lowest = ops::min_axis_backward_init(&arena, &input, &gradient, axis).unwrap();
            for (made, is_highest) in [(highest, true), (lowest, false)] {
                let (mut expected, values) = (exact(&made) * 0.0, exact(&input));
                let lanes = expected.lanes_mut(Axis(axis)).into_iter().zip(values.lanes(Axis(axis)));
                for ((mut lane, values), &gradient) in lanes.zip(&exact(&gradient)) {
                    let sign = if is_highest { 1.0 } else { -1.0 };
                    let place = (0..values.len())
                        .max_by(|&i, &j| (sign * values[i]).total_cmp(&(sign * values[j])).then(j.cmp(&i)));
                    place.into_iter().for_each(|place| lane[place] = gradient);
                }
                assert_eq!(exact(&made), expected);
            }
        }
    }
}

fn one_of_equal_extremes<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let gradient = rt.from_vec([], vec![T::from_f64(2.0)]).unwrap();
    let of = |values: [f64; 4]| {
        let input = rt.from_vec([2, 2], values.map(T::from_f64).to_vec()).unwrap();
        let highest = ops::max_backward_init(&arena, &input, &gradient).unwrap();
        let lowest = ops::min_backward_init(&arena, &input, &gradient).unwrap();
        [highest, lowest].map(|made| exact(&made).into_raw_vec_and_offset().0)
    };
    assert_eq!(of([5.0, 1.0, 5.0, 1.0]), [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0]]);
    assert_eq!(of([5.0, 1.0, f64::NAN, f64::NAN]), [[0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 2.0, 0.0]]);
}

for_each_real!(sums_and_means, extremes, one_of_equal_extremes);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    let mut out = rt.zeros([2, 3]).unwrap();
    for gradient in [[2, 3], [2, 1]] {
        let gradient = rt.zeros::<f32, 2>(gradient).unwrap();
        assert_refused(ops::sum_axis_backward(&gradient, &mut out, 0), &["sum_axis_backward", "[2, 3]"]);
        assert_refused(ops::mean_axis_backward(&gradient, &mut out, 0), &["mean_axis_backward", "[2, 3]"]);
        assert_refused(
            ops::max_axis_backward_init(&arena, &input, &gradient, 0),
            &["max_axis_backward", "[2, 3]"],
        );
        assert_refused(
            ops::min_axis_backward_init(&arena, &input, &gradient, 2),
            &["min_axis_backward", "[2, 3]"],
        );
    }
}
