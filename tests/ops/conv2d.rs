use dahl::ops::{Conv2dGeometry, conv2d, conv2d_backward_filters, conv2d_backward_input, conv2d_init};
use dahl::prelude::*;

use crate::reference::{Moves, array, assert_all_close, assert_refused, exact, four, zeros};

/// Input, number of filters, and the kernel: the first network's, several channels, strides and paddings that differ
/// between the axes and leave a remainder of rows, a kernel of one pixel, one as large as the image, one row of output
/// wider than the image, and images large enough to be packed in several tiles. Then so many filters that they are
/// vectorised over filters: several vectors, the last one not full, with a remainder of channels; one row for all
/// positions, or rows one by one, in blocks of one size or of three; borders as wide as the kernel and wider; kernels
/// of one, two and five columns; more positions than are added up at a time.
/// wide as the kernel and wider; kernels of one, two and five columns; more positions than are added up at a time.
const CASES: [([usize; 4], usize, Moves); 28] = [
    ([2, 1, 9, 8], 4, Moves { kernel: [3, 3], stride: [1, 1], padding: [0, 0] }),
    ([2, 3, 7, 9], 5, Moves { kernel: [3, 2], stride: [1, 1], padding: [1, 1] }),
    ([2, 3, 11, 13], 5, Moves { kernel: [3, 5], stride: [2, 3], padding: [2, 1] }),
    ([3, 2, 5, 4], 3, Moves { kernel: [1, 1], stride: [1, 1], padding: [0, 0] }),
    ([1, 2, 6, 6], 2, Moves { kernel: [1, 1], stride: [3, 2], padding: [0, 0] }),
    ([1, 1, 1, 1], 1, Moves { kernel: [1, 1], stride: [1, 1], padding: [0, 0] }),
    ([2, 2, 3, 5], 1, Moves { kernel: [3, 5], stride: [1, 1], padding: [0, 0] }),
    ([1, 1, 2, 2], 2, Moves { kernel: [5, 5], stride: [3, 1], padding: [2, 2] }),
    ([0, 2, 4, 4], 3, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
    ([1, 24, 40, 41], 3, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
    ([2, 41, 4, 10], 40, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
    ([2, 10, 3, 4], 48, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
    ([1, 64, 2, 13], 24, Moves { kernel: [1, 1], stride: [1, 1], padding: [0, 0] }),
    ([1, 12, 3, 16], 32, Moves { kernel: [3, 2], stride: [1, 1], padding: [1, 0] }),
    ([1, 9, 6, 16], 32, Moves { kernel: [2, 5], stride: [1, 1], padding: [0, 2] }),
    ([1, 9, 16, 26], 25, Moves { kernel: [3, 3], stride: [1, 1], padding: [0, 0] }),
    ([1, 9, 50, 7], 32, Moves { kernel: [3, 5], stride: [1, 1], padding: [0, 0] }),
    ([2, 9, 2, 12], 32, Moves { kernel: [5, 3], stride: [1, 1], padding: [2, 1] }),
    ([1, 65, 2, 9], 33, Moves { kernel: [1, 1], stride: [1, 1], padding: [3, 2] }),
    ([3, 33, 9, 26], 40, Moves { kernel: [3, 3], stride: [1, 1], padding: [0, 0] }),
    ([2, 33, 5, 8], 40, Moves { kernel: [3, 3], stride: [1, 1], padding: [2, 2] }),
    ([1, 70, 3, 24], 22, Moves { kernel: [1, 1], stride: [1, 1], padding: [0, 0] }),
    ([1, 9, 6, 24], 40, Moves { kernel: [3, 5], stride: [1, 1], padding: [0, 2] }),
    ([1, 9, 12, 20], 40, Moves { kernel: [2, 7], stride: [1, 1], padding: [0, 0] }),
    ([1, 9, 5, 29], 40, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 0] }),
    ([2, 40, 7, 7], 40, Moves { kernel: [3, 3], stride: [1, 1], padding: [1, 1] }),
    ([1, 9, 4, 13], 40, Moves { kernel: [3, 5], stride: [1, 1], padding: [2, 4] }),
    ([1, 256, 3, 3], 512, Moves { kernel: [3, 3], stride: [1, 1], padding: [0, 0] }),
];

/// Forward and both gradients, with the magnitudes of their terms.
fn compare<T: Real>() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for (shape, out_channels, moves) in CASES {
        let [batch, in_channels, rows, cols] = shape;
        let Moves { kernel, stride, padding } = moves;
        let [out_rows, out_cols] = moves.positions([rows, cols]);
        let filters_shape = [out_channels, in_channels, kernel[0], kernel[1]];
        let out_shape = [batch, out_channels, out_rows, out_cols];
        let (input, filters) = (array::<T, 4>(&rt, shape, 1), array::<T, 4>(&rt, filters_shape, 2));
        let gradient = array::<T, 4>(&rt, out_shape, 3);

        let (x, w, g) = (exact(&input), exact(&filters), exact(&gradient));
        let (x, w, g) = (four(&x), four(&w), four(&g));
        let (mut y, mut dx, mut dw) = (zeros(out_shape), zeros(shape), zeros(filters_shape));
        let (mut y_size, mut dx_size, mut dw_size) = (y.clone(), dx.clone(), dw.clone());
        moves.for_each_product(shape, out_channels, |out, filter, pixel| {
            for (sum, size, product) in [
                (&mut y[out], &mut y_size[out], w[filter] * x[pixel]),
                (&mut dx[pixel], &mut dx_size[pixel], w[filter] * g[out]),
                (&mut dw[filter], &mut dw_size[filter], g[out] * x[pixel]),
            ] {
                *sum += product;
                *size += product.abs();
            }
        });

        let mut out = array::<T, 4>(&rt, out_shape, 4);
        conv2d(&input, &filters, &mut out, Conv2dGeometry { stride, padding }).unwrap();
        let made = conv2d_init(&arena, &input, &filters, Conv2dGeometry { stride, padding }).unwrap();
        let taps = in_channels * kernel[0] * kernel[1];
        for results in [&out, &made] {
            assert_all_close(results, &y.clone().into_dyn(), &y_size.clone().into_dyn(), taps + 1);
        }
        let mut input_gradient = array::<T, 4>(&rt, shape, 4);
        conv2d_backward_input(&gradient, &filters, &mut input_gradient, Conv2dGeometry { stride, padding })
            .unwrap();
        let terms = out_channels * kernel[0] * kernel[1] + 1;
        assert_all_close(&input_gradient, &dx.into_dyn(), &dx_size.into_dyn(), terms);

        let mut filters_gradient = array::<T, 4>(&rt, filters_shape, 4);
        let old = exact(&filters_gradient);
        conv2d_backward_filters(&input, &gradient, &mut filters_gradient, Conv2dGeometry { stride, padding })
            .unwrap();
        let (dw, dw_size) = (dw.into_dyn() + &old, dw_size.into_dyn() + &old.mapv(f64::abs));
        assert_all_close(&filters_gradient, &dw, &dw_size, batch * out_rows * out_cols + 2);
    }
}

/// If terms are added one by one in f32, a million times a tenth is 100,958.
fn the_gradient_of_a_long_batch<T: Real>() {
    let rt = Runtime::new().unwrap();
    let gradient = rt.from_vec([1_000_000, 1, 1, 1], vec![T::from_f64(0.1); 1_000_000]).unwrap();
    let input = rt.from_vec([1_000_000, 1, 1, 1], vec![T::ONE; 1_000_000]).unwrap();
    let mut out = rt.zeros([1, 1, 1, 1]).unwrap();
    dahl::ops::conv2d_backward_filters(&input, &gradient, &mut out, Conv2dGeometry::default()).unwrap();
    let expected = 1e6 * T::from_f64(0.1).to_f64();
    crate::reference::assert_close(out.to_vec().unwrap()[0], expected, expected, 200);
}

/// Very small sums are kept, whatever images come after theirs.
fn gradients_keep_what_is_very_small<T: Real>() {
    let rt = Runtime::new().unwrap();
    let tiny = T::MIN_POSITIVE.to_f64().log2() as i32 / 2 - 2;
    let number = |exponent: i32| T::from_f64(2.0_f64.powi(exponent));
    let expected = T::from_f64(2.0_f64.powi(2 * tiny));
    for place in 0..3 {
        let mut input = vec![T::ZERO; 3 * 16];
        let mut gradient = vec![T::ZERO; 3 * 16];
        (input[place * 16], gradient[place * 16]) = (number(tiny), number(tiny));
        let input = rt.from_vec([3, 1, 4, 4], input).unwrap();
        let gradient = rt.from_vec([3, 1, 4, 4], gradient).unwrap();
        let mut out = rt.zeros([1, 1, 1, 1]).unwrap();
        dahl::ops::conv2d_backward_filters(&input, &gradient, &mut out, Conv2dGeometry::default()).unwrap();
        assert_eq!(out.to_vec().unwrap(), [expected], "image {place}");
    }
}

for_each_real!(the_gradient_of_a_long_batch, gradients_keep_what_is_very_small);
for_each_real!(compare);

/// The output of a filter does not depend on the number of other filters, to the last bit, nor on whether those are
/// finite.
fn filters_do_not_depend_on_each_other<T: Real>() {
    const FEW: usize = 5;
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    for (shape, kernel, padding, first) in [
        ([2, 9, 7, 24], [3, 3], [1, 1], None),
        ([2, 9, 7, 24], [3, 3], [1, 1], Some(f64::INFINITY)),
        ([1, 9, 5, 9], [3, 5], [0, 1], None),
        ([1, 70, 3, 5], [1, 1], [0, 0], None),
    ] {
        let mut filters = array::<T, 4>(&rt, [8 * FEW, shape[1], kernel[0], kernel[1]], 2);
        if let Some(first) = first {
            filters.write().unwrap()[[0; 4]] = T::from_f64(first);
        }
        let input = array::<T, 4>(&rt, shape, 1);
        let all = conv2d_init(&arena, &input, &filters, Conv2dGeometry::default().padding(padding)).unwrap();
        let filters = filters.to_vec().unwrap();
        let all_sums = all.to_vec().unwrap();
        let (planes, plane) = (all.shape()[1], all.shape()[2] * all.shape()[3]);
        for (block, few) in filters.chunks_exact(filters.len() / 8).enumerate() {
            let few = rt.from_vec([FEW, shape[1], kernel[0], kernel[1]], few.to_vec()).unwrap();
            let alone = conv2d_init(&arena, &input, &few, Conv2dGeometry::default().padding(padding))
                .unwrap()
                .to_vec()
                .unwrap();
            for (image, alone) in alone.chunks_exact(FEW * plane).enumerate() {
                let first = (image * planes + block * FEW) * plane;
                let bits = |sums: &[T]| sums.iter().map(|sum| sum.to_f64().to_bits()).collect::<Vec<_>>();
                assert_eq!(
                    bits(alone),
                    bits(&all_sums[first..][..alone.len()]),
                    "filters {block} of {shape:?}"
                );
            }
        }
    }
}

for_each_real!(filters_do_not_depend_on_each_other);

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, filters) = (array::<f32, 4>(&rt, [2, 3, 5, 5], 1), array::<f32, 4>(&rt, [4, 2, 3, 3], 2));
    let refused = conv2d_init(&arena, &input, &filters, Conv2dGeometry::default());
    assert_refused(refused, &["conv2d", "[2, 3, 5, 5]", "[4, 2, 3, 3]"]);
    let filters = array::<f32, 4>(&rt, [4, 3, 6, 3], 2);
    let refused = conv2d_init(&arena, &input, &filters, Conv2dGeometry::default());
    assert_refused(refused, &["conv2d", "[2, 3, 5, 5]", "[4, 3, 6, 3]"]);
    let beyond = usize::MAX / 2;
    let refused =
        conv2d_init(&arena, &input, &filters, Conv2dGeometry::default().stride([2, 2]).padding([beyond, 0]));
    assert_refused(refused, &["conv2d", &beyond.to_string()]);
    let refused =
        conv2d_init(&arena, &input, &filters, Conv2dGeometry::default().stride([0, 1]).padding([1, 0]));
    assert_refused(refused, &["conv2d", "[0, 1]"]);
    let mut out = rt.zeros([2, 4, 3, 3]).unwrap();
    assert_refused(
        conv2d(&input, &filters, &mut out, Conv2dGeometry::default().padding([1, 0])),
        &["conv2d", "[2, 4, 3, 3]", "[2, 4, 2, 3]"],
    );
    let (gradient, mut input) = (array::<f32, 4>(&rt, [2, 4, 3, 3], 1), input);
    let refused =
        conv2d_backward_input(&gradient, &filters, &mut input, Conv2dGeometry::default().padding([1, 0]));
    assert_refused(refused, &["conv2d_backward_input", "[2, 4, 3, 3]", "[2, 3, 5, 5]"]);
}
