use dahl::ndarray::ArrayD;
use dahl::ops::{RotaryPositions, concat_init, rotary, rotary_backward_init, rotary_init, slice_init};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

fn by_angles<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let positions = RotaryPositions::default().base(50.0).offset(3);
    for shape in [[1, 1, 2], [2, 3, 8], [0, 2, 4], [2, 0, 4], [2, 3, 0], [3, 67, 10]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let (x, half) = (exact(&input), shape[2] / 2);
        let expected = ArrayD::from_shape_fn(x.raw_dim(), |at| {
            let (mut other, i) = (at.clone(), at[2] % half);
            other[2] = (at[2] + half) % shape[2];
            let angle = (3 + at[1]) as f64 / 50.0_f64.powf(i as f64 / half as f64);
            let sine = if at[2] < half { -angle.sin() } else { angle.sin() };
            x[at] * angle.cos() + x[other] * sine
        });
        let magnitude = expected.mapv(|_| 4.0);
        let mut out = rt.zeros(shape).unwrap();
        rotary(&input, &mut out, positions).unwrap();
        let made = rotary_init(&arena, &input, positions).unwrap();
        for results in [&out, &made] {
            assert_all_close(results, &expected, &magnitude, shape[1] + 16);
        }
        let back = rotary_backward_init(&arena, &made, positions).unwrap();
        // The turned tokens are rounded to the element type: an error of an ulp of 4 for each of a pair.
        let (unit, compute) = (T::EPSILON.to_f64(), T::Compute::EPSILON.to_f64());
        assert_all_close(&back, &x, &x.mapv(|_| 8.0 * unit / compute), shape[1] + 16);
    }
}

/// Tokens after others are turned as if all were turned together.
fn after_others<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<T, 3>(&rt, [2, 9, 6], 1);
    let all = rotary_init(&arena, &input, RotaryPositions::default()).unwrap();
    let [first, rest] = [(0, 4), (4, 5)].map(|(start, len)| {
        let part = slice_init(&arena, &input, 1, start, len).unwrap();
        rotary_init(&arena, &part, RotaryPositions::default().offset(start)).unwrap()
    });
    let joined = concat_init(&arena, &[&first, &rest], 1).unwrap();
    assert_eq!(all.to_vec().unwrap(), joined.to_vec().unwrap());
}

for_each_real!(by_angles, after_others);

#[test]
fn wrong_arguments_are_refused() {
    let rt = Runtime::new().unwrap();
    let odd = array::<f32, 2>(&rt, [2, 3], 1);
    let arena = rt.arena();
    assert_refused(rotary_init(&arena, &odd, RotaryPositions::default()), &["rotary", "[2, 3]"]);
    let single = array::<f32, 1>(&rt, [4], 1);
    assert_refused(rotary_init(&arena, &single, RotaryPositions::default()), &["rotary", "[4]"]);
    let even = array::<f32, 2>(&rt, [2, 4], 1);
    assert_refused(rotary_init(&arena, &even, RotaryPositions::default().base(0.0)), &["rotary", "base"]);
}
