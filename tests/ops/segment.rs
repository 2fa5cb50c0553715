use dahl::ops::{segment_softmax_init, segment_sum_init};
use dahl::prelude::*;

use crate::reference::{array, assert_close, assert_refused, exact};

/// Segments below `count`, in no order.
fn segments(rt: &Runtime, rows: usize, count: usize) -> Vector<'static, u32> {
    rt.from_vec([rows], (0..rows).map(|row| ((row * row + 3 * row) % count.max(1)) as u32).collect()).unwrap()
}

/// Each row alone, in loops.
fn against_loops<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for [rows, width, count] in [[0, 3, 2], [1, 1, 1], [7, 0, 3], [13, 5, 4], [67, 3, 90]] {
        let (input, segments) = (array::<T, 2>(&rt, [rows, width], 1), segments(&rt, rows, count));
        let (values, of) = (exact(&input), segments.to_vec().unwrap());
        let sums = segment_sum_init(&arena, &input, &segments, count).unwrap();
        assert_eq!(sums.shape(), [count, width]);
        let shares = segment_softmax_init(&arena, &input, &segments, count).unwrap();
        let (sums, shares) = (sums.to_vec().unwrap(), shares.to_vec().unwrap());
        for column in 0..width {
            let terms = |segment: usize| {
                let of = &of;
                let values = &values;
                (0..rows)
                    .filter(move |row| of[*row] as usize == segment)
                    .map(move |row| values[[row, column]])
            };
            for segment in 0..count {
                let magnitude = terms(segment).map(f64::abs).sum();
                assert_close(sums[segment * width + column], terms(segment).sum(), magnitude, 2);
            }
            for row in 0..rows {
                let total: f64 = terms(of[row] as usize).map(f64::exp).sum();
                let share = values[[row, column]].exp() / total;
                assert_close(shares[row * width + column], share, share, rows + 16);
            }
        }
    }
}

for_each_real!(against_loops);

/// Powers that would overflow do not: the largest number of a segment is subtracted.
#[test]
fn softmax_of_large_numbers() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([4], vec![1000.0_f32, 1000.0, -1000.0, 3.0]).unwrap();
    let segments = rt.from_vec([4], vec![1, 1, 0, 1]).unwrap();
    let shares = segment_softmax_init(&arena, &input, &segments, 2).unwrap().to_vec().unwrap();
    assert_eq!(shares, [0.5, 0.5, 1.0, 0.0]);
}

/// If terms were added one by one, the sum would stop at 2,048.
#[test]
fn a_segment_of_many_rows() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([50_000], vec![f16::from_f64(0.75); 50_000]).unwrap();
    let segments = rt.from_vec([50_000], vec![1; 50_000]).unwrap();
    let sums = segment_sum_init(&arena, &input, &segments, 2).unwrap().to_vec().unwrap();
    assert_eq!(sums, [f16::from_f64(0.0), f16::from_f64(37_500.0)]);
}

#[test]
fn wrong_segments_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.zeros::<f32, 2>([3, 2]).unwrap();
    let two = rt.zeros([2]).unwrap();
    assert_refused(segment_sum_init(&arena, &input, &two, 2), &["segment_sum", "[3, 2]"]);
    assert_refused(segment_softmax_init(&arena, &input, &two, 2), &["segment_softmax", "[3, 2]"]);
    let beyond = rt.from_vec([3], vec![0, 2, 1]).unwrap();
    let error = segment_sum_init(&arena, &input, &beyond, 2).unwrap().to_vec().unwrap_err();
    assert!(error.to_string().contains("segment 2 of row 1"), "{error}");
    let error = segment_softmax_init(&arena, &input, &beyond, 2).unwrap().to_vec().unwrap_err();
    assert!(error.to_string().contains("segment 2 of row 1"), "{error}");
}
