use dahl::ops::{
    Conv2dGeometry, Conv2dPoolGeometry, Pool2dGeometry, bias_backward, bias_init,
    bias_relu_max_pool2d_backward, conv2d_backward_filters, conv2d_backward_input, conv2d_init, conv2d_relu,
    conv2d_relu_backward, conv2d_relu_init, conv2d_relu_max_pool2d_backward, conv2d_relu_max_pool2d_init,
    max_pool2d_backward, max_pool2d_init, relu_backward_init, relu_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_refused, exact};

/// Shapes of images and filters, padding, windows.
type Case = ([usize; 4], [usize; 4], [usize; 2], [usize; 2]);

/// One channel; more filters than a block has; windows that leave a remainder; one position; no image; rows longer than
/// a vector; windows longer than a vector; windows up to the last sum; no channel; more images than are added up at a
/// time; windows that end less than a window before the end of a plane's memory; enough channels and filters for tiles;
/// so many filters that they are vectorised over filters, with rows one by one and not; and enough channels for this in
/// pairs.
const CASES: [Case; 19] = [
    ([2, 1, 8, 8], [4, 1, 3, 3], [0, 0], [2, 2]),
    ([2, 3, 7, 9], [7, 3, 3, 2], [1, 1], [2, 3]),
    ([1, 2, 5, 6], [13, 2, 1, 1], [0, 0], [1, 2]),
    ([3, 2, 6, 5], [2, 2, 5, 5], [2, 2], [3, 2]),
    ([1, 1, 3, 3], [1, 1, 3, 3], [0, 0], [1, 1]),
    ([0, 2, 6, 6], [3, 2, 3, 3], [1, 1], [2, 2]),
    ([2, 1, 5, 70], [3, 1, 3, 3], [1, 1], [2, 2]),
    ([1, 1, 5, 20], [1, 1, 1, 1], [0, 0], [5, 20]),
    ([1, 1, 240, 33], [1, 1, 1, 1], [0, 0], [3, 3]),
    ([2, 0, 4, 4], [3, 0, 3, 3], [1, 1], [2, 2]),
    ([130, 1, 5, 4], [2, 1, 2, 3], [0, 0], [2, 2]),
    ([2, 1, 28, 28], [2, 1, 5, 5], [0, 0], [3, 3]),
    ([2, 1, 3, 30], [2, 1, 3, 3], [1, 1], [3, 3]),
    ([2, 1, 2, 17], [2, 1, 1, 1], [0, 0], [2, 2]),
    ([2, 8, 6, 7], [8, 8, 1, 2], [0, 0], [2, 2]),
    ([2, 9, 7, 8], [40, 9, 3, 3], [1, 1], [2, 2]),
    ([2, 9, 8, 13], [24, 9, 3, 3], [1, 1], [3, 3]),
    ([2, 17, 7, 8], [40, 17, 3, 3], [1, 1], [2, 2]),
    ([2, 16, 8, 13], [24, 16, 3, 3], [1, 1], [3, 3]),
];

/// The results of a sequence of ops. Types that are their own compute type round at the same places, except for the
/// order of the bias, so small whole numbers, at most `most`, make everything exact.
fn whole<T: Real, const N: usize>(
    rt: &Runtime,
    most: usize,
    shape: [usize; N],
    seed: usize,
) -> Array<'static, T, N> {
    let count = shape.iter().product();
    let number = |i: usize| ((i * 7 + seed * 5) % (2 * most + 1)) as f64 - most as f64;
    rt.from_vec(shape, (0..count).map(|i| T::from_f64(number(i))).collect()).unwrap()
}

fn one_task_gives_what_a_row_of_ops_gives<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for (shape, filters_shape, padding, size) in CASES {
        // Sums of many products must not need more digits than bf16 has.
        let most = if filters_shape[1..].iter().product::<usize>() > 50 { 1 } else { 5 };
        let input = whole::<T, 4>(&rt, most, shape, 1);
        let filters = whole::<T, 4>(&rt, most, filters_shape, 2);
        let bias = whole::<T, 1>(&rt, most, [filters_shape[0]], 3);

        let sums = conv2d_init(&arena, &input, &filters, Conv2dGeometry::default().padding(padding)).unwrap();
        let sums = bias_init(&arena, &sums, &bias, 1).unwrap();
        let rectified = relu_init(&arena, &sums).unwrap();
        let (pooled, places) = max_pool2d_init(&arena, &sums, Pool2dGeometry::new(size)).unwrap();
        let pooled = relu_init(&arena, &pooled).unwrap();

        let made = conv2d_relu_init(&arena, &input, &filters, &bias, padding).unwrap();
        assert_eq!(exact(&made), exact(&rectified), "{shape:?} by {filters_shape:?}");
        let (out, index) = conv2d_relu_max_pool2d_init(
            &arena,
            &input,
            &filters,
            &bias,
            Conv2dPoolGeometry { padding, size },
        )
        .unwrap();
        assert_eq!(exact(&out), exact(&pooled), "{shape:?} by {filters_shape:?}, pooled");
        assert_eq!(index.to_vec().unwrap(), places.to_vec().unwrap());

        let gradient = whole::<T, 4>(&rt, most, pooled.shape(), 4);
        let masked = relu_backward_init(&arena, &pooled, &gradient).unwrap();
        let mut by_sums = rt.zeros(sums.shape()).unwrap();
        max_pool2d_backward(&masked, &places, &mut by_sums).unwrap();
        let before =
            || (whole::<T, 4>(&rt, most, filters_shape, 6), whole::<T, 1>(&rt, most, [filters_shape[0]], 7));
        let (mut by_filters, mut by_bias) = before();
        conv2d_backward_filters(
            &input,
            &by_sums,
            &mut by_filters,
            Conv2dGeometry::default().padding(padding),
        )
        .unwrap();
        bias_backward(&by_sums, &mut by_bias, 1).unwrap();

        let (mut filters_at_once, mut bias_at_once) = before();
        let mut at_once = whole::<T, 4>(&rt, most, sums.shape(), 5);
        bias_relu_max_pool2d_backward(&gradient, &out, &index, &mut at_once, &mut bias_at_once).unwrap();
        assert_eq!(exact(&at_once), exact(&by_sums));
        assert_eq!(exact(&bias_at_once), exact(&by_bias));

        let (_, mut bias_at_once) = before();
        conv2d_relu_max_pool2d_backward(
            &input,
            &gradient,
            &out,
            &index,
            &mut filters_at_once,
            &mut bias_at_once,
            Conv2dPoolGeometry { padding, size },
        )
        .unwrap();
        assert_eq!(exact(&filters_at_once), exact(&by_filters), "{shape:?} by {filters_shape:?}");
        assert_eq!(exact(&bias_at_once), exact(&by_bias));

        let gradient = whole::<T, 4>(&rt, most, sums.shape(), 4);
        let by_sums = relu_backward_init(&arena, &made, &gradient).unwrap();
        let (mut by_filters, mut by_bias) = before();
        conv2d_backward_filters(
            &input,
            &by_sums,
            &mut by_filters,
            Conv2dGeometry::default().padding(padding),
        )
        .unwrap();
        bias_backward(&by_sums, &mut by_bias, 1).unwrap();
        let (mut filters_at_once, mut bias_at_once) = before();
        conv2d_relu_backward(&input, &gradient, &made, &mut filters_at_once, &mut bias_at_once, padding)
            .unwrap();
        assert_eq!(exact(&filters_at_once), exact(&by_filters), "{shape:?} by {filters_shape:?}, rectified");
        assert_eq!(exact(&bias_at_once), exact(&by_bias));
    }
}

for_each_real!(one_task_gives_what_a_row_of_ops_gives);

/// Adds the gradients behind windows of two by two, without a border, to `by_filters` and `by_bias`.
fn backward_by_fours(
    input: &Array<'_, f32, 4>,
    gradient: &Array<'_, f32, 4>,
    (out, index): (&Array<'_, f32, 4>, &Array<'_, u32, 4>),
    (by_filters, by_bias): (&mut Array<'_, f32, 4>, &mut Array<'_, f32, 1>),
) {
    let (padding, size) = ([0, 0], [2, 2]);
    conv2d_relu_max_pool2d_backward(
        input,
        gradient,
        out,
        index,
        by_filters,
        by_bias,
        Conv2dPoolGeometry { padding, size },
    )
    .unwrap();
}

#[test]
fn nan_stays_and_its_gradient_passes() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([1, 1, 2, 2], vec![-1.0_f32, f32::NAN, -3.0, -4.0]).unwrap();
    let filters = rt.from_vec([1, 1, 1, 1], vec![1.0_f32]).unwrap();
    let bias = rt.from_vec([1], vec![0.0_f32]).unwrap();
    let rectified = conv2d_relu_init(&arena, &input, &filters, &bias, [0, 0]).unwrap();
    let out = rectified.to_vec().unwrap();
    assert!(out[1].is_nan());
    assert_eq!([out[0], out[2], out[3]], [0.0; 3]);
    let gradient = rt.from_vec([1, 1, 2, 2], vec![2.0_f32; 4]).unwrap();
    let (mut by_filters, mut by_bias) = (rt.zeros([1, 1, 1, 1]).unwrap(), rt.zeros([1]).unwrap());
    conv2d_relu_backward(&input, &gradient, &rectified, &mut by_filters, &mut by_bias, [0, 0]).unwrap();
    assert!(by_filters.to_vec().unwrap()[0].is_nan());
    assert_eq!(by_bias.to_vec().unwrap(), [2.0]);
    let (out, index) =
        conv2d_relu_max_pool2d_init(&arena, &input, &filters, &bias, Conv2dPoolGeometry::new([2, 2]))
            .unwrap();
    assert!(out.to_vec().unwrap()[0].is_nan());
    assert_eq!(index.to_vec().unwrap(), [1]);
    let gradient = rt.from_vec([1, 1, 1, 1], vec![2.0_f32]).unwrap();
    let mut by_sums = rt.zeros([1, 1, 2, 2]).unwrap();
    let mut by_bias = rt.zeros([1]).unwrap();
    bias_relu_max_pool2d_backward(&gradient, &out, &index, &mut by_sums, &mut by_bias).unwrap();
    assert_eq!(by_sums.to_vec().unwrap(), [0.0, 2.0, 0.0, 0.0]);
    assert_eq!(by_bias.to_vec().unwrap(), [2.0]);
    let (mut by_filters, mut by_bias) = (rt.zeros([1, 1, 1, 1]).unwrap(), rt.zeros([1]).unwrap());
    backward_by_fours(&input, &gradient, (&out, &index), (&mut by_filters, &mut by_bias));
    assert!(by_filters.to_vec().unwrap()[0].is_nan());
    assert_eq!(by_bias.to_vec().unwrap(), [2.0]);
}

/// The gradient by the bias overflows, or has done so before: the gradient by the filters is not affected.
#[test]
fn an_infinite_gradient_by_the_bias_changes_no_other() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = rt.from_vec([2, 1, 2, 2], vec![1e-3_f32; 8]).unwrap();
    let filters = rt.from_vec([1, 1, 1, 1], vec![1.0_f32]).unwrap();
    let bias = rt.from_vec([1], vec![0.0_f32]).unwrap();
    let (out, index) =
        conv2d_relu_max_pool2d_init(&arena, &input, &filters, &bias, Conv2dPoolGeometry::new([2, 2]))
            .unwrap();
    for (element, before) in [(1.0_f32, f32::INFINITY), (3e38, 0.0)] {
        let gradient = rt.from_vec([2, 1, 1, 1], vec![element; 2]).unwrap();
        let mut by_filters = rt.from_vec([1, 1, 1, 1], vec![1.0_f32]).unwrap();
        let mut by_bias = rt.from_vec([1], vec![before]).unwrap();
        backward_by_fours(&input, &gradient, (&out, &index), (&mut by_filters, &mut by_bias));
        let expected = 1.0 + (element * 1e-3 + element * 1e-3);
        assert_eq!(by_filters.to_vec().unwrap(), [expected]);
        assert_eq!(by_bias.to_vec().unwrap(), [f32::INFINITY]);
    }
}

/// No pooling has such an index, with any window.
#[test]
fn a_place_outside_of_the_plane_fails_the_task() {
    let rt = Runtime::new().unwrap();
    for (columns, pooled) in [(4, 2), (6, 2), (5, 5)] {
        let gradient = rt.from_vec([1, 1, 2, pooled], vec![1.0_f64; 2 * pooled]).unwrap();
        let out = rt.from_vec([1, 1, 2, pooled], vec![1.0_f64; 2 * pooled]).unwrap();
        let mut places = vec![0; 2 * pooled];
        places[1] = 4 * columns as u32;
        let index = rt.from_vec([1, 1, 2, pooled], places).unwrap();
        let mut by_sums: Array<f64, 4> = rt.zeros([1, 1, 4, columns]).unwrap();
        let mut by_bias = rt.zeros([1]).unwrap();
        bias_relu_max_pool2d_backward(&gradient, &out, &index, &mut by_sums, &mut by_bias).unwrap();
        assert!(by_sums.to_vec().is_err(), "{columns} columns");
    }
}

/// Between the rows of an output lie positions that are computed and not used: an infinite element there changes
/// nothing.
#[test]
fn an_infinite_element_reaches_only_its_own_sums() {
    let rt = Runtime::new().unwrap();
    for (channels, filters) in [(1, 1), (9, 40)] {
        let mut pixels = vec![1.0_f64; 16 * channels];
        pixels[16 * (channels - 1) + 4] = f64::INFINITY; // row 1, column 0: taps of columns 1 and 2 never see it
        let input = rt.from_vec([1, channels, 4, 4], pixels).unwrap();
        let gradient = rt.from_vec([1, filters, 2, 2], vec![1.0_f64; 4 * filters]).unwrap();
        let mut by_filters = rt.zeros([filters, channels, 3, 3]).unwrap();
        conv2d_backward_filters(&input, &gradient, &mut by_filters, Conv2dGeometry::default()).unwrap();
        let by_filters = by_filters.to_vec().unwrap();
        let infinite: Vec<bool> = by_filters.iter().map(|sum| sum.is_infinite()).collect();
        for of_filter in infinite.chunks_exact(9 * channels) {
            let (finite, last) = of_filter.split_at(9 * (channels - 1));
            assert_eq!(last, [true, false, false, true, false, false, false, false, false]);
            assert!(!finite.contains(&true));
        }
        assert!(by_filters.iter().all(|sum| !sum.is_nan()));
    }
}

/// A tap that never meets an element does not change its gradient, even if the tap is infinite.
#[test]
fn an_infinite_tap_reaches_only_its_own_elements() {
    let rt = Runtime::new().unwrap();
    let gradient = rt.from_vec([1, 1, 2, 2], vec![1.0_f32; 4]).unwrap();
    let mut taps = vec![1.0_f32; 4];
    taps[3] = f32::INFINITY; // meets the elements of the last row and column of each window
    let filters = rt.from_vec([1, 1, 2, 2], taps).unwrap();
    let mut by_input = rt.zeros([1, 1, 3, 3]).unwrap();
    conv2d_backward_input(&gradient, &filters, &mut by_input, Conv2dGeometry::default()).unwrap();
    let infinity = f32::INFINITY;
    assert_eq!(by_input.to_vec().unwrap(), [1.0, 2.0, 1.0, 2.0, infinity, infinity, 1.0, infinity, infinity]);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let input = array::<f32, 4>(&rt, [1, 2, 5, 5], 1);
    let filters = array::<f32, 4>(&rt, [3, 2, 3, 3], 2);
    let (bias, short) = (array::<f32, 1>(&rt, [3], 3), array::<f32, 1>(&rt, [2], 3));
    let mut out = array::<f32, 4>(&rt, [1, 3, 3, 3], 4);
    assert_refused(conv2d_relu(&input, &filters, &short, &mut out, [0, 0]), &["bias.len()"]);
    assert_refused(conv2d_relu(&input, &filters, &bias, &mut out, [1, 0]), &["conv2d_relu"]);
    let refused =
        conv2d_relu_max_pool2d_init(&rt.arena(), &input, &filters, &bias, Conv2dPoolGeometry::new([0, 2]))
            .map(|_| ());
    assert_refused(refused, &["size[0] > 0"]);
    let gradient = array::<f32, 4>(&rt, [1, 3, 3, 3], 5);
    let mut by_filters = array::<f32, 4>(&rt, [3, 2, 3, 3], 6);
    let (mut by_bias, mut by_short) = (array::<f32, 1>(&rt, [3], 7), array::<f32, 1>(&rt, [2], 7));
    let backward = |by_filters: &mut Array<f32, 4>, by_bias: &mut Array<f32, 1>, padding| {
        conv2d_relu_backward(&input, &gradient, &out, by_filters, by_bias, padding)
    };
    assert_refused(backward(&mut by_filters, &mut by_short, [0, 0]), &["by_bias.len()"]);
    assert_refused(backward(&mut by_filters, &mut by_bias, [0, 1]), &["conv2d_relu_backward"]);
}
