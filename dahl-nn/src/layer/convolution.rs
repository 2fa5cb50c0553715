//! [`Convolution`] and [`TransposedConvolution`] over one to three axes.

use std::fmt::Write as _;

use dahl::ops::{self, ConvolutionGeometry};
use dahl::prelude::*;

use crate::module::{Init, Module, Parameter, Visit, VisitMut};
use crate::setting::{self, listed};
use crate::step::Step;

/// A convolution of sequences, `[batch, channels, extent]`; PyTorch's `Conv1d`.
pub type Conv1d<'m, T> = Convolution<'m, T, 1>;
/// A convolution of volumes, `[batch, channels, depth, rows, cols]`; PyTorch's `Conv3d`.
pub type Conv3d<'m, T> = Convolution<'m, T, 3>;
/// A transposed convolution of sequences; PyTorch's `ConvTranspose1d`.
pub type ConvTranspose1d<'m, T> = TransposedConvolution<'m, T, 1>;
/// A transposed convolution of images; PyTorch's `ConvTranspose2d`.
pub type ConvTranspose2d<'m, T> = TransposedConvolution<'m, T, 2>;
/// A transposed convolution of volumes; PyTorch's `ConvTranspose3d`.
pub type ConvTranspose3d<'m, T> = TransposedConvolution<'m, T, 3>;

/// A convolution over `D` axes with stride, padding, dilation and groups. As many groups as channels make it depthwise.
/// [`Conv2d`](super::Conv2d) is faster for images with one group and no dilation.
///
/// # Shapes
/// `[batch, in_channels, ..extents]` to `[batch, out_channels, ..]`, where an extent becomes
/// `(extent + 2 padding - dilation (kernel - 1) - 1) / stride + 1`; `weight: [out_channels, in_channels / groups, ..kernel]`,
/// `bias: [out_channels]`.
#[derive(Debug)]
pub struct Convolution<'m, T: Real, const D: usize> {
    /// `[out_channels, in_channels / groups, ..kernel]`.
    pub weight: Parameter<'m, T>,
    /// `[out_channels]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    geometry: ConvolutionGeometry<D>,
}

/// The transposed convolution over `D` axes: the gradient of a [`Convolution`] by its input, as a layer of its own, which
/// makes images larger (Dumoulin and Visin 2016, *A Guide to Convolution Arithmetic*, section 4).
///
/// # Shapes
/// `[batch, in_channels, ..extents]` to `[batch, out_channels, ..]`, where an extent becomes
/// `(extent - 1) stride - 2 padding + dilation (kernel - 1) + output padding + 1`;
/// `weight: [in_channels, out_channels / groups, ..kernel]`, `bias: [out_channels]`.
#[derive(Debug)]
pub struct TransposedConvolution<'m, T: Real, const D: usize> {
    /// `[in_channels, out_channels / groups, ..kernel]`.
    pub weight: Parameter<'m, T>,
    /// `[out_channels]`, if there is one.
    pub bias: Option<Parameter<'m, T>>,
    geometry: ConvolutionGeometry<D>,
    output_padding: [usize; D],
}

/// The weight of a convolution, uniform, and the bound of its numbers, as in PyTorch.
#[track_caller]
fn weight<'m, T: Real, const D: usize>(
    init: &mut Init<'m>,
    [in_channels, out_channels]: [usize; 2],
    kernel: [usize; D],
    geometry: &ConvolutionGeometry<D>,
    is_transposed: bool,
) -> dahl::Result<(Parameter<'m, T>, f64)> {
    let extents = "extents from 1";
    setting::require(in_channels > 0, "Convolution: in_channels", in_channels, "a number from 1")?;
    setting::require(out_channels > 0, "Convolution: out_channels", out_channels, "a number from 1")?;
    setting::require(!kernel.contains(&0), "Convolution: kernel", listed(&kernel), extents)?;
    setting::require(
        !geometry.stride.contains(&0),
        "Convolution: stride",
        listed(&geometry.stride),
        extents,
    )?;
    let dilation = listed(&geometry.dilation);
    setting::require(!geometry.dilation.contains(&0), "Convolution: dilation", dilation, extents)?;
    let groups = geometry.groups;
    let divides = groups > 0 && in_channels.is_multiple_of(groups) && out_channels.is_multiple_of(groups);
    let value = format!("{groups} for {in_channels} and {out_channels} channels");
    setting::require(divides, "Convolution: groups", value, "a divisor of both numbers of channels")?;
    let first = if is_transposed {
        [in_channels, out_channels / groups]
    } else {
        [out_channels, in_channels / groups]
    };
    let shape: Vec<usize> = first.into_iter().chain(kernel).collect();
    let fan_in: f64 = shape[1..].iter().map(|&extent| extent as f64).product();
    let bound = 1.0 / fan_in.sqrt();
    Ok((init.uniform(&shape, bound)?, bound))
}

/// A weight as an array of rank `N`.
///
/// # Errors
/// If it has another rank.
#[track_caller]
fn shaped<const N: usize>(layer: &'static str, shape: &[usize]) -> dahl::Result<[usize; N]> {
    shape.try_into().map_err(|_| {
        let fact = format!("it takes arrays of rank {}, not {N}", shape.len());
        dahl::Error::invalid_shape(layer, fact)
    })
}

impl<'m, T: Real, const D: usize> Convolution<'m, T, D> {
    /// A layer from `in_channels` to `out_channels` channels, drawn as PyTorch does: uniformly from `-bound .. bound`,
    /// where `bound = 1 / sqrt(in_channels / groups * kernel elements)`.
    ///
    /// # Errors
    /// If there are no channels, an extent, stride or dilation is 0, the groups do not divide the channels, or memory
    /// cannot be allocated.
    #[track_caller]
    pub fn new(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        kernel: [usize; D],
        geometry: ConvolutionGeometry<D>,
    ) -> dahl::Result<Self> {
        let (weight, bound) = weight(init, [in_channels, out_channels], kernel, &geometry, false)?;
        let bias = Some(init.uniform(&[out_channels], bound)?);
        Ok(Self { weight, bias, geometry })
    }

    /// As [`new`](Self::new), without a bias.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn without_bias(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        kernel: [usize; D],
        geometry: ConvolutionGeometry<D>,
    ) -> dahl::Result<Self> {
        let (weight, _) = weight(init, [in_channels, out_channels], kernel, &geometry, false)?;
        Ok(Self { weight, bias: None, geometry })
    }

    /// Maps a batch, of rank `D + 2`.
    ///
    /// # Errors
    /// If the rank, the channels or the extents do not fit, and those of the operations.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let weight = self.weight.value.reshaped(shaped::<N>("Convolution", &self.weight.shape)?)?;
        let output = ops::convolution_init(step, input, &*weight, self.geometry)?;
        let Some(bias) = &self.bias else { return Ok(output) };
        ops::bias_init(step, &output, &bias.value, 1)
    }
}

impl<'m, T: Real, const D: usize> TransposedConvolution<'m, T, D> {
    /// A layer from `in_channels` to `out_channels` channels, drawn as PyTorch does: uniformly from `-bound .. bound`,
    /// where `bound = 1 / sqrt(out_channels / groups * kernel elements)`.
    ///
    /// # Errors
    /// As [`Convolution::new`].
    #[track_caller]
    pub fn new(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        kernel: [usize; D],
        geometry: ConvolutionGeometry<D>,
    ) -> dahl::Result<Self> {
        let (weight, bound) = weight(init, [in_channels, out_channels], kernel, &geometry, true)?;
        let bias = Some(init.uniform(&[out_channels], bound)?);
        Ok(Self { weight, bias, geometry, output_padding: [0; D] })
    }

    /// As [`new`](Self::new), without a bias.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[track_caller]
    pub fn without_bias(
        init: &mut Init<'m>,
        in_channels: usize,
        out_channels: usize,
        kernel: [usize; D],
        geometry: ConvolutionGeometry<D>,
    ) -> dahl::Result<Self> {
        let (weight, _) = weight(init, [in_channels, out_channels], kernel, &geometry, true)?;
        Ok(Self { weight, bias: None, geometry, output_padding: [0; D] })
    }

    /// Makes the output larger at its end, by less than the stride or the dilation: a stride leaves open which of several extents it is.
    pub fn output_padding(mut self, output_padding: [usize; D]) -> Self {
        self.output_padding = output_padding;
        self
    }

    /// Maps a batch, of rank `D + 2`.
    ///
    /// # Errors
    /// If the rank, the channels or the extents do not fit, and those of the operations.
    #[track_caller]
    pub fn forward<'s, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let name = "TransposedConvolution";
        let weight = self.weight.value.reshaped(shaped::<N>(name, &self.weight.shape)?)?;
        let ConvolutionGeometry { stride, padding, dilation, .. } = self.geometry;
        let mut extents = [0; D];
        for (axis, out) in extents.iter_mut().enumerate() {
            let (extent, kernel) = (input.shape()[axis + 2], self.weight.shape[axis + 2]);
            let reach = dilation[axis].checked_mul(kernel - 1);
            let end = extent.checked_sub(1).and_then(|last| last.checked_mul(stride[axis]));
            let whole = end.zip(reach).and_then(|(end, reach)| end.checked_add(reach)?.checked_add(1));
            let whole = whole.and_then(|whole| whole.checked_add(self.output_padding[axis]));
            let fits = whole.and_then(|whole| whole.checked_sub(padding[axis].checked_mul(2)?));
            let may_pad = self.output_padding[axis] < stride[axis].max(dilation[axis]);
            *out = fits.filter(|_| may_pad).ok_or_else(|| {
                let fact = format!(
                    "axis {} of {:?} has no output with padding {padding:?} and output padding {:?}",
                    axis + 2,
                    input.shape(),
                    self.output_padding
                );
                dahl::Error::invalid_shape(name, fact)
            })?;
        }
        let output = ops::convolution_backward_input_init(step, input, &*weight, extents, self.geometry)?;
        let Some(bias) = &self.bias else { return Ok(output) };
        ops::bias_init(step, &output, &bias.value, 1)
    }
}

fn describe<const D: usize>(shape: &[usize], geometry: &ConvolutionGeometry<D>) -> String {
    let ConvolutionGeometry { stride, padding, dilation, groups } = geometry;
    let mut text = format!("kernel {:?}", &shape[2..]);
    for (name, value, usual) in [("stride", stride, 1), ("padding", padding, 0), ("dilation", dilation, 1)] {
        if value.iter().any(|&extent| extent != usual) {
            let _ = write!(text, ", {name} {value:?}");
        }
    }
    if *groups != 1 {
        let _ = write!(text, ", groups {groups}");
    }
    text
}

macro_rules! modules {
    ($($Name:ident),+) => {$(
        impl<T: Real, const D: usize> Module<T> for $Name<'_, T, D> {
            fn visit<'a>(&'a self, visit: &mut Visit<'_, 'a, T>) {
                let description = std::fmt::from_fn(|f| f.write_str(&describe(&self.weight.shape, &self.geometry)));
                visit.module(stringify!($Name), format_args!("{description}"));
                visit.field("weight", &self.weight);
                visit.field("bias", &self.bias);
            }

            fn visit_mut(&mut self, visit: &mut VisitMut<'_, T>) {
                visit.field("weight", &mut self.weight);
                visit.field("bias", &mut self.bias);
            }
        }
    )+};
}

modules!(Convolution, TransposedConvolution);
