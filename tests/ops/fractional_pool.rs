use std::collections::BTreeSet;

use dahl::ops::{Philox, fractional_max_pool_init};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

/// The places of the last elements of the windows along one axis: those of the maxima of increasing numbers.
fn ends(rt: &Runtime, planes: usize, len: usize, size: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let arena = rt.arena();
    let input = rt.from_vec([planes, 1, len], (0..planes * len).map(|i| i as f32).collect()).unwrap();
    let (_, index) = fractional_max_pool_init(&arena, &input, [size], [count], Philox::new(seed)).unwrap();
    index
        .to_vec()
        .unwrap()
        .chunks_exact(count)
        .map(|ends| ends.iter().map(|&end| end as usize).collect())
        .collect()
}

/// The windows begin at the beginning, end at the end, and have distances of two successive numbers.
#[test]
fn distances() {
    let rt = Runtime::new().unwrap();
    for (len, size, count) in [(25, 2, 17), (10, 3, 4), (7, 1, 7), (9, 4, 1), (100, 2, 60)] {
        let all = ends(&rt, 20, len, size, count, 3);
        for ends in &all {
            assert_eq!(*ends.last().unwrap(), len - 1);
            if count > 1 {
                assert_eq!(ends[0], size - 1);
            }
            let mean = (len - size) as f64 / (count.max(2) - 1) as f64;
            for pair in ends.windows(2) {
                let distance = (pair[1] - pair[0]) as f64;
                assert!(distance == mean.floor() || distance == mean.ceil(), "{ends:?}");
            }
        }
        let different = all.iter().collect::<BTreeSet<_>>().len();
        assert!(
            (different > 1) == (count > 2 && (len - size) % (count - 1) > 0),
            "{different} of {len} to {count}"
        );
    }
}

/// Each axis has its own distances; the maxima are those of the windows.
fn of_images<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (shape, size, extents) = ([2, 3, 12, 17], [2, 3], [7, 8]);
    let input = array::<T, 4>(&rt, shape, 1);
    let (out, index) = fractional_max_pool_init(&arena, &input, size, extents, Philox::new(5)).unwrap();
    let values = exact(&input);
    let (out, index) = (exact(&out), index.to_vec().unwrap());
    // One number for each axis of each plane: a signal for each.
    let ends_of = |plane: usize, axis: usize| {
        let increasing =
            rt.from_vec([1, 1, shape[axis + 2]], (0..shape[axis + 2]).map(|i| i as f32).collect()).unwrap();
        let numbers = Philox::new(5).skip((plane * 2 + axis) as u64);
        let (_, index) =
            fractional_max_pool_init(&arena, &increasing, [size[axis]], [extents[axis]], numbers).unwrap();
        index.to_vec().unwrap()
    };
    for plane in 0..6 {
        let (rows, cols) = (ends_of(plane, 0), ends_of(plane, 1));
        for (i, &row) in rows.iter().enumerate() {
            for (j, &col) in cols.iter().enumerate() {
                let [row, col] = [row as usize, col as usize];
                let window = (row + 1 - size[0]..=row)
                    .flat_map(|row| (col + 1 - size[1]..=col).map(move |col| [row, col]));
                let value = |[row, col]: [usize; 2]| values[[plane / 3, plane % 3, row, col]];
                let best = window.reduce(|best, at| if value(at) > value(best) { at } else { best }).unwrap();
                assert_eq!(out[[plane / 3, plane % 3, i, j]], value(best));
                assert_eq!(index[(plane * 7 + i) * 8 + j] as usize, best[0] * 17 + best[1]);
            }
        }
    }
}

for_each_real!(of_images);

#[test]
fn wrong_extents_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [2, 3, 6], 1);
    for (size, count) in [(3, 5), (0, 2), (2, 0), (7, 1), (usize::MAX, 1)] {
        let refused = fractional_max_pool_init(&arena, &input, [size], [count], Philox::new(1));
        assert_refused(refused, &["fractional_max_pool", "[2, 3, 6]"]);
    }
}
