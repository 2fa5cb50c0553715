//! [`convolution`]: over one, two or three spatial axes, with stride, padding, dilation and groups; and its gradients.
//!
//! The three operations are the gradients of each other. The gradient by the input is also the transposed convolution
//! (Dumoulin and Visin 2016, *A guide to convolution arithmetic for deep learning*, chapter 4). Images are convolved
//! faster by [`conv2d`](super::conv2d()), where it applies. [`bias`](super::bias()) adds a bias along axis 1.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::geometry::{ConvolutionGeometry, spatial, with_spatial};
use crate::cpu::convolution::{Convolution as Extents, backward_filters, backward_input, forward};
use crate::cpu::gemm::Cores;
use crate::cpu::row_major::{elements, row_major, write};
use crate::cpu::volume::{Slide, Volume};

/// How a kernel moves along each spatial axis.
fn slides<const D: usize>(
    input: &[usize],
    filters: &[usize],
    geometry: ConvolutionGeometry<D>,
) -> impl ExactSizeIterator<Item = Slide> {
    let ConvolutionGeometry { stride, padding, dilation, .. } = geometry;
    let at = |shape: &[usize], axis: usize| shape.get(axis + 2).copied().unwrap_or(0);
    let slides: [Slide; D] = std::array::from_fn(|axis| Slide {
        extent: at(input, axis),
        kernel: at(filters, axis),
        stride: stride[axis],
        padding: padding[axis],
        dilation: dilation[axis],
    });
    slides.into_iter()
}

fn extents<const D: usize>(input: &[usize], filters: &[usize], geometry: ConvolutionGeometry<D>) -> Extents {
    Extents {
        batch: input[0],
        in_channels: input[1],
        out_channels: filters[0],
        groups: geometry.groups,
        volume: Volume::new(slides(input, filters, geometry)),
    }
}

/// `shape` with so many channels.
fn with_channels<const N: usize>(mut shape: [usize; N], channels: Option<&usize>) -> [usize; N] {
    if let (Some(to), Some(&channels)) = (shape.get_mut(1), channels) {
        *to = channels;
    }
    shape
}

/// The shape of a convolution's output; extents of 0 where the filter does not fit.
fn output_shape<const N: usize, const D: usize>(
    input: [usize; N],
    filters: [usize; N],
    geometry: ConvolutionGeometry<D>,
) -> [usize; N] {
    let mut slides = slides(&input, &filters, geometry);
    let positions = std::array::from_fn::<_, D, _>(|_| slides.next().map_or(0, |axis| axis.positions()));
    with_spatial(with_channels(input, filters.first()), positions)
}

/// The shape of a convolution's input.
fn input_shape<const N: usize, const D: usize>(
    output: [usize; N],
    filters: [usize; N],
    spatial: [usize; D],
    geometry: ConvolutionGeometry<D>,
) -> [usize; N] {
    let channels = filters.get(1).map(|channels| channels.saturating_mul(geometry.groups));
    with_spatial(with_channels(output, channels.as_ref()), spatial)
}

/// The shape of a convolution's filters.
fn filters_shape<const N: usize, const D: usize>(
    input: [usize; N],
    output: [usize; N],
    kernel: [usize; D],
    geometry: ConvolutionGeometry<D>,
) -> [usize; N] {
    let channels = input.get(1).map(|channels| channels / geometry.groups.max(1));
    let mut shape = with_spatial(with_channels(output, channels.as_ref()), kernel);
    if let [first, ..] = &mut shape[..] {
        *first = output.get(1).copied().unwrap_or(0);
    }
    shape
}

/// Whether the filters fit into the padded input, at a stride and a dilation that are not 0, and the groups divide the
/// channels.
fn fits<const N: usize, const D: usize>(
    input: [usize; N],
    filters: [usize; N],
    geometry: ConvolutionGeometry<D>,
) -> bool {
    let groups = geometry.groups;
    N == D + 2
        && (1..=3).contains(&D)
        && groups > 0
        && filters[1].checked_mul(groups) == Some(input[1])
        && filters[0].is_multiple_of(groups)
        && slides(&input, &filters, geometry).all(|axis| axis.positions() > 0)
}

/// `out[n, f, p] = sum over i, t of filters[f, i, t] * input[n, g + i, p * stride + t * dilation - padding]`, where `p`
/// and `t` have a coordinate for each spatial axis, and `g` is the first channel of the filter's group.
///
/// Products of the filters with packed patches, for some positions at a time; without patches if the groups have one
/// input channel each.
///
/// # Shapes
/// `input: [batch, in_channels, ..spatial]` with one to three spatial axes,
/// `filters: [out_channels, in_channels / groups, ..kernel]`,
/// `out: [batch, out_channels, (spatial + 2 padding - dilation (kernel - 1) - 1) / stride + 1, ..]`.
#[codelet(
    R, R, W,
    cuda = crate::kernels::CONVOLUTION,
    shape(out = output_shape(input.shape(), filters.shape(), geometry)),
    check(fits(input.shape(), filters.shape(), geometry)),
    flops = 2 * out.len() * (filters.len() / filters.shape()[0].max(1)),
    parallel = convolution_on_cores,
    gradient = convolution_gradient(input, filters),
    reference = crate::reference::convolution::convolution,
    error = sum(n = filters.len() / filters.shape()[0].max(1))
)]
pub fn convolution<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    filters: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    geometry: ConvolutionGeometry<D>,
) {
    forward_on(Cores::One, input, filters, out, geometry);
}

/// [`convolution`] on several cores.
fn convolution_on_cores<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    filters: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    geometry: ConvolutionGeometry<D>,
) {
    forward_on(Cores::Pool, input, filters, out, geometry);
}

fn forward_on<T: Real, const D: usize>(
    cores: Cores,
    input: ArrayViewD<'_, T>,
    filters: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T>,
    geometry: ConvolutionGeometry<D>,
) {
    let conv = extents(input.shape(), filters.shape(), geometry);
    let (input, filters) = (row_major(&input), row_major(&filters));
    write(out, |out| forward(cores, &conv, elements(&input), elements(&filters), out));
}

fn convolution_gradient<T: Real, const D: usize, const N: usize>(
    rule: ConvolutionGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let ConvolutionGradient { input, filters, gradient, geometry, scope, .. } = rule;
    if let Some(by_input) = rule.by_input {
        *by_input =
            convolution_backward_input_init(scope, gradient, filters, spatial(&input.shape()), geometry)?;
    }
    if let Some(by_filters) = rule.by_filters {
        let kernel = spatial(&filters.shape());
        if scope.sum(by_filters) {
            convolution_backward_filters(input, gradient, by_filters, kernel, geometry)?;
        } else {
            *by_filters = convolution_backward_filters_init(scope, input, gradient, kernel, geometry)?;
        }
    }
    Ok(())
}

/// The gradient of [`convolution`] by its input, from the gradient by its output: the transposed convolution of
/// `gradient`.
///
/// `extents` are the spatial ones of `out`, which a stride can leave open: those from
/// `(extent - 1) stride + dilation (kernel - 1) + 1 - 2 padding` on, with less than `stride` more, have one shape of
/// `gradient`. Elements that no position of the kernel reaches get 0.
///
/// # Shapes
/// `gradient` as the output of [`convolution`], `out` as its input.
#[codelet(
    R, R, W,
    cuda = crate::kernels::CONVOLUTION_BACKWARD_INPUT,
    shape(out = input_shape(gradient.shape(), filters.shape(), extents, geometry)),
    check(fits(input_shape(gradient.shape(), filters.shape(), extents, geometry), filters.shape(), geometry)),
    check(gradient.shape() == output_shape(input_shape(gradient.shape(), filters.shape(), extents, geometry), filters.shape(), geometry)),
    flops = 2 * gradient.len() * (filters.len() / filters.shape()[0].max(1)),
    parallel = convolution_backward_input_on_cores,
    gradient = convolution_backward_input_gradient(gradient, filters),
    reference = crate::reference::convolution::convolution_backward_input,
    error = sum(n = filters.len() / filters.shape()[1].max(1))
)]
pub fn convolution_backward_input<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    filters: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    debug_assert_eq!(out.shape()[2..], extents);
    backward_input_on(Cores::One, gradient, filters, out, geometry);
}

/// [`convolution_backward_input`] on several cores.
fn convolution_backward_input_on_cores<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    filters: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    _: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    backward_input_on(Cores::Pool, gradient, filters, out, geometry);
}

fn backward_input_on<T: Real, const D: usize>(
    cores: Cores,
    gradient: ArrayViewD<'_, T>,
    filters: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T>,
    geometry: ConvolutionGeometry<D>,
) {
    let conv = extents(out.shape(), filters.shape(), geometry);
    let (gradient, filters) = (row_major(&gradient), row_major(&filters));
    write(out, |out| backward_input(cores, &conv, elements(&gradient), elements(&filters), out));
}

fn convolution_backward_input_gradient<T: Real, const D: usize, const N: usize>(
    rule: ConvolutionBackwardInputGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let ConvolutionBackwardInputGradient { gradient, filters, gradient_out, geometry, scope, .. } = rule;
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = convolution_init(scope, gradient_out, filters, geometry)?;
    }
    if let Some(by_filters) = rule.by_filters {
        let kernel = spatial(&filters.shape());
        *by_filters = convolution_backward_filters_init(scope, gradient_out, gradient, kernel, geometry)?;
    }
    Ok(())
}

/// Adds to `out` the gradient of [`convolution`] by its filters, from the gradient by its output. The gradients of the
/// parts of a batch add up. `kernel` has the extents of the kernel.
///
/// # Shapes
/// `input` and `gradient` as the input and the output of [`convolution`], `out` as its filters.
#[codelet(
    R, R, REDUX,
    cuda = crate::kernels::CONVOLUTION_BACKWARD_FILTERS,
    shape(out = filters_shape(input.shape(), gradient.shape(), kernel, geometry)),
    check(fits(input.shape(), filters_shape(input.shape(), gradient.shape(), kernel, geometry), geometry)),
    check(gradient.shape() == output_shape(input.shape(), filters_shape(input.shape(), gradient.shape(), kernel, geometry), geometry)),
    flops = 2 * gradient.len() * (out.len() / out.shape()[0].max(1)),
    parallel = convolution_backward_filters_on_cores,
    gradient = convolution_backward_filters_gradient(input, gradient),
    reference = crate::reference::convolution::convolution_backward_filters,
    error = sum(n = gradient.len() / gradient.shape()[1].max(1) + 1)
)]
pub fn convolution_backward_filters<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T::Compute>,
    kernel: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    debug_assert_eq!(out.shape()[2..], kernel);
    backward_filters_on(Cores::One, input, gradient, out, geometry);
}

/// [`convolution_backward_filters`] on several cores.
fn convolution_backward_filters_on_cores<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T::Compute>,
    _: [usize; D],
    geometry: ConvolutionGeometry<D>,
) {
    backward_filters_on(Cores::Pool, input, gradient, out, geometry);
}

fn backward_filters_on<T: Real, const D: usize>(
    cores: Cores,
    input: ArrayViewD<'_, T>,
    gradient: ArrayViewD<'_, T>,
    out: ArrayViewMutD<'_, T::Compute>,
    geometry: ConvolutionGeometry<D>,
) {
    let conv = extents(input.shape(), out.shape(), geometry);
    let (input, gradient) = (row_major(&input), row_major(&gradient));
    write(out, |out| backward_filters(cores, &conv, elements(&input), elements(&gradient), out));
}

fn convolution_backward_filters_gradient<T: Real, const D: usize, const N: usize>(
    rule: ConvolutionBackwardFiltersGradient<'_, T, D, N>,
) -> dahl::Result<()> {
    let ConvolutionBackwardFiltersGradient { input, gradient, gradient_out, geometry, scope, .. } = rule;
    if let Some(by_input) = rule.by_input {
        *by_input = convolution_backward_input_init(
            scope,
            gradient,
            gradient_out,
            spatial(&input.shape()),
            geometry,
        )?;
    }
    if let Some(by_gradient) = rule.by_gradient {
        *by_gradient = convolution_init(scope, input, gradient_out, geometry)?;
    }
    Ok(())
}
