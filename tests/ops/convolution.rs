use dahl::ndarray::{ArrayD, IxDyn, indices};
use dahl::ops::{
    Conv2dGeometry, ConvolutionGeometry, conv2d_backward_filters, conv2d_backward_input, conv2d_init,
    convolution_backward_filters_init, convolution_backward_input_init, convolution_init,
};
use dahl::prelude::*;

use crate::reference::{array, assert_all_close, assert_refused, exact};

/// A convolution and its gradients, one product after the other.
fn compare<T: Real, const N: usize, const D: usize>(
    shape: [usize; N],
    filters_shape: [usize; N],
    geometry: ConvolutionGeometry<D>,
) {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, filters) = (array::<T, N>(&rt, shape, 1), array::<T, N>(&rt, filters_shape, 2));
    let out = convolution_init(&arena, &input, &filters, geometry).unwrap();
    let gradient = array::<T, N>(&rt, out.shape(), 3);

    let zeros = |shape: [usize; N]| ArrayD::<f64>::zeros(IxDyn(&shape));
    let (x, w, g) = (exact(&input), exact(&filters), exact(&gradient));
    let [mut y, mut dx, mut dw] = [zeros(out.shape()), zeros(shape), zeros(filters_shape)];
    let [mut y_size, mut dx_size, mut dw_size] = [y.clone(), dx.clone(), dw.clone()];
    let filters_of_group = filters_shape[0] / geometry.groups;
    for at in indices(out.shape().as_slice()) {
        for tap in indices(&filters_shape[1..]) {
            let filter: Vec<usize> = std::iter::once(at[1]).chain((0..=D).map(|axis| tap[axis])).collect();
            let channel = at[1] / filters_of_group * filters_shape[1] + tap[0];
            let places = (0..D).map(|axis| {
                let place = at[axis + 2] * geometry.stride[axis] + tap[axis + 1] * geometry.dilation[axis];
                place.checked_sub(geometry.padding[axis]).filter(|place| *place < shape[axis + 2])
            });
            let Some(places) = places.collect::<Option<Vec<usize>>>() else { continue };
            let from: Vec<usize> = [at[0], channel].into_iter().chain(places).collect();
            let (at, filter, from) = (at.clone(), IxDyn(&filter), IxDyn(&from));
            for (sum, size, product) in [
                (&mut y[&at], &mut y_size[&at], w[&filter] * x[&from]),
                (&mut dx[&from], &mut dx_size[&from], w[&filter] * g[&at]),
                (&mut dw[&filter], &mut dw_size[&filter], g[&at] * x[&from]),
            ] {
                *sum += product;
                *size += product.abs();
            }
        }
    }

    assert_all_close(&out, &y, &y_size, w.len() / filters_shape[0] + 1);
    let extents = std::array::from_fn(|axis| shape[axis + 2]);
    let by_input = convolution_backward_input_init(&arena, &gradient, &filters, extents, geometry).unwrap();
    assert_all_close(&by_input, &dx, &dx_size, w.len() / filters_shape[1] + 1);
    let kernel = std::array::from_fn(|axis| filters_shape[axis + 2]);
    let by_filters = convolution_backward_filters_init(&arena, &input, &gradient, kernel, geometry).unwrap();
    assert_all_close(&by_filters, &dw, &dw_size, g.len() / filters_shape[0] + 2);
}

/// Signals, images and volumes; groups of several channels and of one, with one filter and with several; strides that
/// leave a remainder; padding wider than the kernel; kernels as large as the input; more positions than are packed at a
/// time, in lines that are longer than that and in shorter ones; more samples than are added at a time.
fn each_rank<T: Real>() {
    type Geometry<const D: usize> = ConvolutionGeometry<D>;
    compare::<T, 3, 1>([2, 3, 11], [4, 3, 3], Geometry::default());
    compare::<T, 3, 1>([1, 70, 2000], [3, 70, 5], Geometry::default().padding([4]).dilation([2]));
    compare::<T, 3, 1>([2, 4, 12], [6, 2, 3], Geometry::default().groups(2).stride([5]).padding([3]));
    compare::<T, 3, 1>([130, 1, 6], [1, 1, 3], Geometry::default());
    compare::<T, 3, 1>([130, 2, 6], [1, 2, 3], Geometry::default());
    compare::<T, 4, 2>([2, 3, 7, 9], [5, 3, 3, 2], Geometry::default().padding([1, 1]));
    compare::<T, 4, 2>([1, 48, 20, 21], [4, 24, 5, 5], Geometry::default().groups(2).padding([2, 2]));
    compare::<T, 4, 2>([2, 4, 9, 8], [4, 1, 3, 3], Geometry::default().groups(4).padding([1, 1]));
    compare::<T, 4, 2>(
        [2, 2, 9, 8],
        [6, 1, 3, 2],
        Geometry::default().groups(2).stride([2, 3]).dilation([3, 1]),
    );
    compare::<T, 4, 2>(
        [1, 2, 2, 2],
        [4, 1, 5, 5],
        Geometry::default().groups(2).stride([3, 1]).padding([2, 2]),
    );
    compare::<T, 5, 3>(
        [2, 2, 4, 5, 6],
        [3, 2, 2, 3, 2],
        Geometry::default().padding([1, 0, 1]).stride([1, 2, 1]),
    );
    compare::<T, 5, 3>([1, 3, 3, 4, 5], [3, 1, 3, 1, 2], Geometry::default().groups(3).dilation([1, 1, 3]));
    compare::<T, 5, 3>([1, 2, 2, 3, 4], [2, 2, 2, 3, 4], Geometry::default());
}

for_each_real!(each_rank);

#[test]
fn of_images_it_is_conv2d() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, filters) = (array::<f64, 4>(&rt, [2, 3, 9, 8], 1), array::<f64, 4>(&rt, [4, 3, 3, 2], 2));
    let (stride, padding) = ([2, 1], [1, 1]);
    let (plain, general) =
        (Conv2dGeometry { stride, padding }, ConvolutionGeometry::default().stride(stride).padding(padding));
    let expected = conv2d_init(&arena, &input, &filters, plain).unwrap();
    let made = convolution_init(&arena, &input, &filters, general).unwrap();
    let size = |array: &ArrayD<f64>| array.mapv(|value| value.abs() + 100.0);
    assert_all_close(&made, &exact(&expected), &size(&exact(&expected)), 30);
    let gradient = array::<f64, 4>(&rt, made.shape(), 3);
    let (mut by_input, mut by_filters) = (rt.zeros([2, 3, 9, 8]).unwrap(), rt.zeros([4, 3, 3, 2]).unwrap());
    conv2d_backward_input(&gradient, &filters, &mut by_input, plain).unwrap();
    conv2d_backward_filters(&input, &gradient, &mut by_filters, plain).unwrap();
    let made = convolution_backward_input_init(&arena, &gradient, &filters, [9, 8], general).unwrap();
    assert_all_close(&made, &exact(&by_input), &size(&exact(&by_input)), 30);
    let made = convolution_backward_filters_init(&arena, &input, &gradient, [3, 2], general).unwrap();
    assert_all_close(&made, &exact(&by_filters), &size(&exact(&by_filters)), 200);
}

/// A kernel of ones, moved by its own extents, repeats each element; what a stride leaves over is 0.
#[test]
fn transposed_convolution_has_a_given_shape() {
    let rt = Runtime::new().unwrap();
    let input = rt.from_vec([1, 1, 3], vec![1.0_f32, 2.0, 3.0]).unwrap();
    let filters = rt.from_vec([1, 1, 2], vec![1.0_f32; 2]).unwrap();
    let geometry = ConvolutionGeometry::default().stride([2]);
    let arena = rt.arena();
    let out = convolution_backward_input_init(&arena, &input, &filters, [7], geometry).unwrap();
    assert_eq!(out.to_vec().unwrap(), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 0.0]);
    for extent in [5, 8] {
        let refused = convolution_backward_input_init(&arena, &input, &filters, [extent], geometry);
        assert_refused(refused, &["convolution_backward_input", "[1, 1, 3]", &extent.to_string()]);
    }
}

/// Parts along other axes than the first are not contiguous.
#[test]
fn strided_parts() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f64, 3>(&rt, [2, 4, 9], 1);
    let filters = array::<f64, 3>(&rt, [3, 2, 3], 2);
    let part = &input.partition(Axis(1), 2).unwrap()[1];
    let whole = rt
        .from_vec([2, 2, 9], [1, 3].map(|half| input.to_vec().unwrap()[half * 18..][..18].to_vec()).concat());
    let expected =
        convolution_init(&arena, &whole.unwrap(), &filters, ConvolutionGeometry::<1>::default()).unwrap();
    let made = convolution_init(&arena, part, &filters, ConvolutionGeometry::<1>::default()).unwrap();
    assert_eq!(made.to_vec().unwrap(), expected.to_vec().unwrap());
}

#[test]
fn nothing() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let (input, filters) = (array::<f32, 3>(&rt, [0, 2, 5], 1), array::<f32, 3>(&rt, [3, 2, 2], 2));
    let geometry = ConvolutionGeometry::default();
    let out = convolution_init(&arena, &input, &filters, geometry).unwrap();
    assert_eq!(out.shape(), [0, 3, 4]);
    let by_filters = convolution_backward_filters_init(&arena, &input, &out, [2], geometry).unwrap();
    assert_eq!(by_filters.to_vec().unwrap(), [0.0; 12]);
}

#[test]
fn wrong_shapes_are_refused() {
    let rt = Runtime::new().unwrap();
    let arena = rt.arena();
    let input = array::<f32, 3>(&rt, [2, 4, 5], 1);
    let geometry = ConvolutionGeometry::default();
    for (filters, geometry) in [
        ([3, 3, 2], geometry),
        ([3, 4, 6], geometry),
        ([3, 2, 2], geometry.groups(2)),
        ([4, 4, 2], geometry.groups(0)),
        ([4, 4, 2], geometry.stride([0])),
        ([4, 4, 2], geometry.dilation([0])),
        ([4, 4, 2], geometry.dilation([5])),
        ([4, 4, 2], geometry.padding([usize::MAX])),
        ([4, 4, 0], geometry),
    ] {
        let filters = array::<f32, 3>(&rt, filters, 2);
        let refused = convolution_init(&arena, &input, &filters, geometry);
        assert_refused(refused, &["convolution", "[2, 4, 5]"]);
    }
    let filters = array::<f32, 3>(&rt, [4, 4, 2], 2);
    let of_images = ConvolutionGeometry::<2>::default();
    assert_refused(convolution_init(&arena, &input, &filters, of_images), &["convolution", "[2, 4, 5]"]);
    let gradient = array::<f32, 3>(&rt, [2, 4, 3], 3);
    let refused = convolution_backward_filters_init(&arena, &input, &gradient, [2], geometry);
    assert_refused(refused, &["convolution_backward_filters", "[2, 4, 3]"]);
}
