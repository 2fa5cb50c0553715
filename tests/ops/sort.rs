use dahl::ndarray::Axis;
use dahl::ops::{SortOrder, gather_init, sort, sort_init, top_k_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

/// Values of which many are equal.
fn coarse<const N: usize>(rt: &Runtime, shape: [usize; N]) -> Array<'static, f32, N> {
    let values = array::<f32, N>(rt, shape, 1).to_vec().unwrap();
    rt.from_vec(shape, values.into_iter().map(|value| (3.0 * value).round()).collect()).unwrap()
}

#[test]
fn along_each_axis() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for shape in [[1, 1, 1], [3, 10, 1], [0, 2, 3], [2, 0, 3], [5, 7, 131]] {
        let input = coarse(&rt, shape);
        for axis in 0..3 {
            for order in [SortOrder::Ascending, SortOrder::Descending] {
                let (mut values, mut indices) = (rt.zeros(shape).unwrap(), rt.zeros(shape).unwrap());
                sort(&input, &mut values, &mut indices, axis, order).unwrap();
                let mut expected = exact(&input);
                for mut line in expected.lanes_mut(Axis(axis)) {
                    let mut sorted = line.to_vec();
                    sorted.sort_by(f64::total_cmp);
                    if order == SortOrder::Descending {
                        sorted.reverse();
                    }
                    line.iter_mut().zip(sorted).for_each(|(to, value)| *to = value);
                }
                assert_eq!(exact(&values), expected + 0.0);
                let gathered = gather_init(&arena, &input, &indices, axis).unwrap();
                assert_eq!(gathered.to_vec().unwrap(), values.to_vec().unwrap());
                // Equal values are in the order of their indices, so no index occurs twice.
                let (values, indices) = (values.read().unwrap(), indices.read().unwrap());
                let lanes = values.lanes(Axis(axis)).into_iter().zip(indices.lanes(Axis(axis)));
                for (values, indices) in lanes {
                    for i in 1..values.len() {
                        assert!(values[i - 1] != values[i] || indices[i - 1] < indices[i]);
                    }
                }
            }
        }
    }
}

#[test]
fn the_largest_are_the_first_of_all_sorted() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = coarse(&rt, [5, 37]);
    for axis in 0..2 {
        let (values, indices) = sort_init(&arena, &input, axis, SortOrder::Descending).unwrap();
        for count in 0..=input.shape()[axis] {
            let (largest, places) = top_k_init(&arena, &input, count, axis).unwrap();
            let first = |array: &Array<'_, f32, 2>| {
                dahl::ops::slice_init(&arena, array, axis, 0, count).unwrap().to_vec().unwrap()
            };
            assert_eq!(largest.to_vec().unwrap(), first(&values));
            let first = dahl::ops::slice_init(&arena, &indices, axis, 0, count).unwrap();
            assert_eq!(places.to_vec().unwrap(), first.to_vec().unwrap());
        }
    }
}

#[test]
fn nan_is_largest() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let values = vec![1.0, f32::NAN, f32::INFINITY, -0.0, 0.0, f32::NAN, f32::NEG_INFINITY];
    let input = rt.from_vec([7], values).unwrap();
    let (_, ascending) = sort_init(&arena, &input, 0, SortOrder::Ascending).unwrap();
    assert_eq!(ascending.to_vec().unwrap(), [6, 3, 4, 0, 2, 1, 5]);
    let (_, descending) = sort_init(&arena, &input, 0, SortOrder::Descending).unwrap();
    assert_eq!(descending.to_vec().unwrap(), [1, 5, 2, 0, 3, 4, 6]);
    let (values, largest) = top_k_init(&arena, &input, 3, 0).unwrap();
    assert_eq!(largest.to_vec().unwrap(), [1, 5, 2]);
    assert_eq!(values.to_vec().unwrap()[2], f32::INFINITY);
}

#[test]
fn integers() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([4], vec![3_i64, -5, i64::MAX, 3]).unwrap();
    let (values, indices) = sort_init(&arena, &input, 0, SortOrder::Ascending).unwrap();
    assert_eq!(values.to_vec().unwrap(), [-5, 3, 3, i64::MAX]);
    assert_eq!(indices.to_vec().unwrap(), [1, 0, 3, 2]);
}

#[test]
fn wrong_arguments_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 2>(&rt, [2, 3], 1);
    assert_refused(sort_init(&arena, &input, 2, SortOrder::Ascending), &["sort", "[2, 3]"]);
    assert_refused(top_k_init(&arena, &input, 4, 1), &["top_k", "[2, 3]", "4"]);
}
