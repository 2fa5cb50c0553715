//! Convolutions of images with stride, dilation and groups, and transposed ones.

use dahl::Result;
use dahl::ops::{self, Conv2dGeometry, ConvolutionGeometry};
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

/// Extents: batch, channels, filters, the image's side, that of the kernel, stride, padding, dilation, groups, and 1 if it
/// is transposed, else 0.
///
/// A transposed convolution is the gradient by the input of the other one, from an image of the given side; its channels are
/// those of its own input. Without groups and dilation the operations for images are measured.
pub(crate) fn convolution<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, filters, image, kernel, stride, padding, dilation, groups, transposed] =
        request.extents();
    let reach = dilation * (kernel - 1) + 1;
    let is_transposed = transposed == 1;
    let small = if is_transposed { image } else { (image + 2 * padding - reach) / stride + 1 };
    let large = if is_transposed { (image - 1) * stride + reach - 2 * padding } else { image };
    // Those of the convolution whose gradient a transposed one is.
    let [from, to] = if is_transposed { [filters, channels] } else { [channels, filters] };
    let mut input = clock.numbers::<T, 4>([batch, from, large, large])?;
    let mut weights = clock.numbers::<T, 4>([to, from / groups, kernel, kernel])?;
    let mut out = clock.numbers::<T, 4>([batch, to, small, small])?;
    let direction = match (request.direction.as_str(), is_transposed) {
        ("forward", false) | ("backward_input", true) => "forward",
        ("forward", true) | ("backward_input", false) => "backward_input",
        _ => "backward_filters",
    };
    if groups == 1 && dilation == 1 {
        let geometry = Conv2dGeometry::default().stride([stride; 2]).padding([padding; 2]);
        return match direction {
            "forward" => clock.calls(|| ops::conv2d(&input, &weights, &mut out, geometry)),
            "backward_input" => {
                clock.calls(|| ops::conv2d_backward_input(&out, &weights, &mut input, geometry))
            }
            _ => clock.calls(|| ops::conv2d_backward_filters(&input, &out, &mut weights, geometry)),
        };
    }
    let geometry = ConvolutionGeometry::default()
        .stride([stride; 2])
        .padding([padding; 2])
        .dilation([dilation; 2])
        .groups(groups);
    match direction {
        "forward" => clock.calls(|| ops::convolution(&input, &weights, &mut out, geometry)),
        "backward_input" => {
            clock.calls(|| ops::convolution_backward_input(&out, &weights, &mut input, [large; 2], geometry))
        }
        _ => clock
            .calls(|| ops::convolution_backward_filters(&input, &out, &mut weights, [kernel; 2], geometry)),
    }
}
