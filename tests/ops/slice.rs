use dahl::ndarray::{Axis, Slice};
use dahl::ops::{slice, slice_backward, slice_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

fn ranges_of_each_axis<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [5, 3, 7], [2, 0, 3]] {
        let input = array::<T, 3>(&rt, shape, 1);
        let values = exact(&input);
        for axis in 0..3 {
            for start in 0..=shape[axis] {
                for len in 0..=shape[axis] - start {
                    let made = slice_init(&arena, &input, axis, start, len).unwrap();
                    let range = Slice::from(start..start + len);
                    assert_eq!(exact(&made), values.slice_axis(Axis(axis), range));
                    let mut out = array::<T, 3>(&rt, shape, 2);
                    slice_backward(&made, &mut out, axis, start).unwrap();
                    let mut expected = &values * 0.0;
                    expected.slice_axis_mut(Axis(axis), range).assign(&exact(&made));
                    assert_eq!(exact(&out), expected);
                }
            }
        }
    }
}

for_each_real!(ranges_of_each_axis);

#[test]
fn strided_parts() {
    let rt = Runtime::new().unwrap();
    let input = rt.from_vec([2, 4], (0..8).collect::<Vec<u32>>()).unwrap();
    let mut out = rt.zeros([2, 3]).unwrap();
    let (from, mut to) = (input.partition(Axis(1), 3).unwrap(), out.partition_mut(Axis(1), 2).unwrap());
    slice(&from[0], &mut to[0], 1, 1, 2).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1, 2, 0, 5, 6, 0]);
}

#[test]
fn wrong_ranges_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    for (axis, start, len) in [(0, 0, 3), (1, 4, 0), (1, 1, usize::MAX), (2, 0, 0)] {
        assert_refused(slice_init(&arena, &input, axis, start, len), &["slice", "[2, 3]"]);
    }
    let mut out = rt.zeros::<f32, 2>([4, 3]).unwrap();
    assert_refused(slice_backward(&input, &mut out, 0, 3), &["slice_backward", "[2, 3]", "[4, 3]"]);
    assert_refused(slice_backward(&input, &mut out, 1, 0), &["slice_backward", "[2, 3]", "[4, 3]"]);
}
