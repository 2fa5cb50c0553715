use dahl::ops::{
    Pool2dGeometry, avg_pool2d, avg_pool2d_backward, avg_pool2d_init, max_pool2d, max_pool2d_backward,
    max_pool2d_init,
};
use dahl::prelude::*;

use crate::reference::{Moves, array, assert_all_close, assert_refused, exact, four, zeros};

/// Images and windows: the usual one, one that leaves a remainder of rows, overlapping ones with padding, one pixel,
/// empty.
const CASES: [([usize; 4], Moves); 7] = [
    ([2, 3, 6, 8], Moves { kernel: [2, 2], stride: [2, 2], padding: [0, 0] }),
    ([2, 1, 7, 5], Moves { kernel: [2, 2], stride: [2, 2], padding: [0, 0] }),
    ([1, 2, 7, 9], Moves { kernel: [3, 3], stride: [2, 1], padding: [1, 1] }),
    ([1, 2, 5, 4], Moves { kernel: [2, 3], stride: [1, 3], padding: [1, 1] }),
    ([1, 1, 1, 1], Moves { kernel: [1, 1], stride: [1, 1], padding: [0, 0] }),
    ([2, 2, 3, 5], Moves { kernel: [3, 5], stride: [1, 1], padding: [0, 0] }),
    ([0, 2, 4, 4], Moves { kernel: [2, 2], stride: [2, 2], padding: [0, 0] }),
];

/// Calls `f` for every position of the window, with the pixels under it.
fn for_each_window(shape: [usize; 4], moves: Moves, mut f: impl FnMut([usize; 4], Vec<[usize; 2]>)) {
    let [batch, channels, rows, cols] = shape;
    let [out_rows, out_cols] = moves.positions([rows, cols]);
    for n in 0..batch {
        for c in 0..channels {
            for i in 0..out_rows {
                for j in 0..out_cols {
                    let taps = (0..moves.kernel[0]).flat_map(|u| (0..moves.kernel[1]).map(move |v| [u, v]));
                    f([n, c, i, j], taps.filter_map(|tap| moves.pixel([rows, cols], [i, j], tap)).collect());
                }
            }
        }
    }
}

fn maximum_and_mean<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for (shape, moves) in CASES {
        let ([batch, channels, rows, cols], Moves { kernel, stride, padding }) = (shape, moves);
        let [out_rows, out_cols] = moves.positions([rows, cols]);
        let out_shape = [batch, channels, out_rows, out_cols];
        let (input, gradient) = (array::<T, 4>(&rt, shape, 1), array::<T, 4>(&rt, out_shape, 2));
        let (x, g) = (exact(&input), exact(&gradient));
        let (x, g) = (four(&x), four(&g));

        let (mut max, mut place, mut mean, mut mean_size) =
            (zeros(out_shape), zeros(out_shape), zeros(out_shape), zeros(out_shape));
        let (mut by_max, mut by_max_size, mut by_mean, mut by_mean_size) =
            (zeros(shape), zeros(shape), zeros(shape), zeros(shape));
        let size = (kernel[0] * kernel[1]) as f64;
        for_each_window(shape, moves, |at, pixels| {
            let [n, c, ..] = at;
            let mut best = pixels[0];
            for [row, col] in pixels {
                if x[[n, c, row, col]] > x[[n, c, best[0], best[1]]] {
                    best = [row, col];
                }
                mean[at] += x[[n, c, row, col]] / size;
                mean_size[at] += x[[n, c, row, col]].abs() / size;
                by_mean[[n, c, row, col]] += g[at] / size;
                by_mean_size[[n, c, row, col]] += g[at].abs() / size;
            }
            max[at] = x[[n, c, best[0], best[1]]];
            place[at] = (best[0] * cols + best[1]) as f64;
            by_max[[n, c, best[0], best[1]]] += g[at];
            by_max_size[[n, c, best[0], best[1]]] += g[at].abs();
        });
        let overlaps = kernel[0] * kernel[1] + 1;

        let (mut out, mut index) = (rt.zeros(out_shape).unwrap(), rt.zeros(out_shape).unwrap());
        max_pool2d(&input, &mut out, &mut index, Pool2dGeometry::new(kernel).stride(stride).padding(padding))
            .unwrap();
        let (made, made_index) =
            max_pool2d_init(&arena, &input, Pool2dGeometry::new(kernel).stride(stride).padding(padding))
                .unwrap();
        for (out, index) in [(&out, &index), (&made, &made_index)] {
            assert_eq!(exact(out), max.clone().into_dyn());
            assert_eq!(index.read().unwrap().mapv(f64::from), place);
        }
        let mut back = array::<T, 4>(&rt, shape, 3);
        max_pool2d_backward(&gradient, &index, &mut back).unwrap();
        assert_all_close(&back, &by_max.into_dyn(), &by_max_size.into_dyn(), overlaps);

        avg_pool2d(&input, &mut out, Pool2dGeometry::new(kernel).stride(stride).padding(padding)).unwrap();
        let made =
            avg_pool2d_init(&arena, &input, Pool2dGeometry::new(kernel).stride(stride).padding(padding))
                .unwrap();
        for out in [&out, &made] {
            assert_all_close(out, &mean.clone().into_dyn(), &mean_size.clone().into_dyn(), overlaps);
        }
        avg_pool2d_backward(
            &gradient,
            &mut back,
            Pool2dGeometry::new(kernel).stride(stride).padding(padding),
        )
        .unwrap();
        assert_all_close(&back, &by_mean.into_dyn(), &by_mean_size.into_dyn(), overlaps + 1);
    }
}

/// NaN is the maximum, the first of equal ones is taken, and minus infinity can be a maximum.
fn special_values<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let infinity = f64::NEG_INFINITY;
    let rows = [[1.0, f64::NAN, 2.0, 2.0, infinity, infinity], [3.0, f64::NAN, 1.0, 2.0, infinity, infinity]];
    let input = rt.from_vec([1, 1, 2, 6], rows.concat().into_iter().map(T::from_f64).collect()).unwrap();
    let (out, index) = max_pool2d_init(&arena, &input, Pool2dGeometry::new([2, 2])).unwrap();
    let out = exact(&out).into_raw_vec_and_offset().0;
    assert!(out[0].is_nan() && out[1..] == [2.0, infinity]);
    assert_eq!(index.read().unwrap().iter().copied().collect::<Vec<_>>(), [1, 2, 4]);
}

/// If terms are added one by one in f32, a million times a tenth is 100,958.
fn a_window_of_a_million<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([1, 1, 1000, 1000], vec![T::from_f64(0.1); 1_000_000]).unwrap();
    let mean =
        dahl::ops::avg_pool2d_init(&arena, &input, Pool2dGeometry::new([1000, 1000]).stride([1, 1])).unwrap();
    let expected = T::from_f64(0.1).to_f64();
    crate::reference::assert_close(mean.to_vec().unwrap()[0], expected, expected, 500);
}

/// As in PyTorch, the maximum of a window with a NaN is the first NaN.
fn nan_is_a_maximum<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let values = [1.0, f64::NAN, 3.0, f64::NAN, 2.0, f64::NEG_INFINITY, f64::INFINITY, 0.0];
    let input = rt.from_vec([1, 1, 2, 4], values.map(T::from_f64).to_vec()).unwrap();
    let (out, index) = dahl::ops::max_pool2d_init(&arena, &input, Pool2dGeometry::new([2, 2])).unwrap();
    assert!(out.to_vec().unwrap().into_iter().all(Real::is_nan));
    assert_eq!(index.to_vec().unwrap(), [1, 3]);
}

for_each_real!(a_window_of_a_million, nan_is_a_maximum);
for_each_real!(maximum_and_mean, special_values);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 4>(&rt, [1, 2, 4, 4], 1);
    let (mut out, mut index) = (rt.zeros([1, 2, 2, 2]).unwrap(), rt.zeros([1, 2, 3, 2]).unwrap());
    let refused = max_pool2d(&input, &mut out, &mut index, Pool2dGeometry::new([2, 2]));
    assert_refused(refused, &["max_pool2d", "[1, 2, 3, 2]", "[1, 2, 2, 2]"]);
    assert_refused(
        avg_pool2d_init(&arena, &input, Pool2dGeometry::new([5, 2]).stride([1, 1])),
        &["avg_pool2d", "[1, 2, 4, 4]", "[5, 2]"],
    );
    assert_refused(
        avg_pool2d_init(&arena, &input, Pool2dGeometry::new([2, 2]).stride([1, 1]).padding([2, 0])),
        &["avg_pool2d", "[2, 0]"],
    );
    let mut back = rt.zeros([1, 3, 4, 4]).unwrap();
    let beyond = 1 << (usize::BITS - 1);
    let refused =
        avg_pool2d_init(&arena, &input, Pool2dGeometry::new([2, 2]).stride([1, 1]).padding([beyond, 0]));
    assert_refused(refused, &["avg_pool2d", &beyond.to_string()]);
    // It fits, and its pixels cannot be counted.
    let huge = usize::MAX / 2;
    let window = Pool2dGeometry::new([huge, 2]).padding([huge / 2, 0]);
    assert_refused(avg_pool2d_init(&arena, &input, window), &["avg_pool2d", &huge.to_string()]);
    assert_refused(dahl::ops::max_pool2d_init(&arena, &input, window), &["max_pool2d", &huge.to_string()]);
    let refused = max_pool2d_backward(&out, &rt.zeros([1, 2, 2, 2]).unwrap(), &mut back);
    assert_refused(refused, &["max_pool2d_backward", "[1, 2, 2, 2]", "[1, 3, 4, 4]"]);
}
