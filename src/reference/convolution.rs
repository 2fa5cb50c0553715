//! Convolution over any number of axes and its gradients, one product after the other. Padding is zeros, which are
//! multiplied like other numbers.

use ndarray::{ArrayD, ArrayViewD, ArrayViewMutD, IxDyn, indices};

use super::sum::Sum;
use crate::ops::ConvolutionGeometry;

pub(crate) fn convolution<const D: usize>(
    input: ArrayViewD<'_, f64>,
    filters: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    geometry: ConvolutionGeometry<D>,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    let shapes = [input.shape(), filters.shape(), out.shape()];
    for_each_product(shapes, geometry, |from, filter, to| {
        sums[to].add_product(from.map_or(0.0, |from| input[from]), filters[filter]);
    });
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn convolution_backward_input<const D: usize>(
    gradient: ArrayViewD<'_, f64>,
    filters: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    _extents: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    let shapes = [out.shape(), filters.shape(), gradient.shape()];
    for_each_product(shapes, geometry, |from, filter, to| {
        if let Some(from) = from {
            sums[from].add_product(gradient[to], filters[filter]);
        }
    });
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

pub(crate) fn convolution_backward_filters<const D: usize>(
    input: ArrayViewD<'_, f64>,
    gradient: ArrayViewD<'_, f64>,
    mut out: ArrayViewMutD<'_, f64>,
    _kernel: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    let mut sums = ArrayD::from_elem(out.raw_dim(), Sum::default());
    sums.zip_mut_with(&out, |sum, out| sum.add(*out));
    let shapes = [input.shape(), out.shape(), gradient.shape()];
    for_each_product(shapes, geometry, |from, filter, to| {
        sums[filter].add_product(from.map_or(0.0, |from| input[from]), gradient[to]);
    });
    out.zip_mut_with(&sums, |out, sum| *out = sum.total());
}

/// Calls `f` for each product with the indices of the element of the input, unless it is padding, of the filter and of
/// the output.
fn for_each_product<const D: usize>(
    [input, filters, out]: [&[usize]; 3],
    geometry: ConvolutionGeometry<D>,
    mut f: impl FnMut(Option<&IxDyn>, &IxDyn, &IxDyn),
) {
    let out_channels = filters[0] / geometry.groups;
    for to in indices(out) {
        for tap in indices(&filters[1..]) {
            let group = to[1] / out_channels;
            let mut from = IxDyn(&vec![0; D + 2]);
            (from[0], from[1]) = (to[0], group * filters[1] + tap[0]);
            let mut is_inside = true;
            for axis in 0..D {
                let place = to[axis + 2] * geometry.stride[axis] + tap[axis + 1] * geometry.dilation[axis];
                let place =
                    place.checked_sub(geometry.padding[axis]).filter(|place| *place < input[axis + 2]);
                is_inside &= place.is_some();
                from[axis + 2] = place.unwrap_or(0);
            }
            let mut filter = IxDyn(&vec![0; D + 2]);
            filter[0] = to[1];
            (0..=D).for_each(|axis| filter[axis + 1] = tap[axis]);
            f(is_inside.then_some(&from), &filter, &to);
        }
    }
}
