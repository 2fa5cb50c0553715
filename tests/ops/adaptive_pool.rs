use dahl::ops::{adaptive_avg_pool_init, adaptive_max_pool_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused};

/// The results of PyTorch 2: `adaptive_max_pool1d`, `adaptive_avg_pool1d`.
fn of_signals<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input: Vec<T> = [1.0, 5.0, 2.0, 3.0, 9.0].map(T::from_f64).into();
    let input = rt.from_vec([1, 1, 5], input).unwrap();
    for (extent, maxima, places, means) in [
        (1, vec![9.0], vec![4], vec![4.0]),
        (2, vec![5.0, 9.0], vec![1, 4], vec![8.0 / 3.0, 14.0 / 3.0]),
        (3, vec![5.0, 5.0, 9.0], vec![1, 1, 4], vec![3.0, 10.0 / 3.0, 6.0]),
        (5, vec![1.0, 5.0, 2.0, 3.0, 9.0], vec![0, 1, 2, 3, 4], vec![1.0, 5.0, 2.0, 3.0, 9.0]),
        (
            7,
            vec![1.0, 5.0, 5.0, 2.0, 3.0, 9.0, 9.0],
            vec![0, 1, 1, 2, 3, 4, 4],
            vec![1.0, 3.0, 3.5, 2.0, 2.5, 6.0, 9.0],
        ),
    ] {
        let (out, index) = adaptive_max_pool_init(&arena, &input, [extent]).unwrap();
        let expected: Vec<T> = maxima.into_iter().map(T::from_f64).collect();
        assert_eq!((out.to_vec().unwrap(), index.to_vec().unwrap()), (expected, places));
        let expected: Vec<T> = means.into_iter().map(T::from_f64).collect();
        assert_eq!(adaptive_avg_pool_init(&arena, &input, [extent]).unwrap().to_vec().unwrap(), expected);
    }
}

for_each_real!(of_signals);

#[test]
fn wrong_extents_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 4>(&rt, [2, 3, 4, 5], 1);
    for extents in [[0, 1], [1, usize::MAX]] {
        assert_refused(
            adaptive_avg_pool_init(&arena, &input, extents),
            &["adaptive_avg_pool", "[2, 3, 4, 5]"],
        );
    }
    assert_refused(adaptive_max_pool_init(&arena, &input, [2]), &["adaptive_max_pool", "[2, 3, 4, 5]"]);
    let empty = array::<f32, 4>(&rt, [2, 3, 0, 5], 1);
    assert_refused(adaptive_avg_pool_init(&arena, &empty, [1, 1]), &["adaptive_avg_pool", "[2, 3, 0, 5]"]);
}
