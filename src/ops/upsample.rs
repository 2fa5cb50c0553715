//! Other spatial extents by repeated or interpolated elements: [`upsample_nearest`], [`upsample_linear`], and their
//! gradients.
//!
//! Results are PyTorch's, with places that are computed exactly.

use dahl::ndarray::{ArrayViewD, ArrayViewMutD};
use dahl::prelude::*;

use super::geometry::{spatial, with_spatial};
use crate::cpu::indexed::{gather, scatter_add};
use crate::cpu::interpolation::{Lines, Place};
use crate::cpu::row_major::{elements, row_major, write};

/// Whether an array `[batch, channels, ..spatial]` of `D` spatial axes, one to three, can be sampled at so many points.
fn can_sample<const D: usize>(shape: &[usize], points: [usize; D]) -> bool {
    let fits = |(&extent, points): (&usize, usize)| {
        let longest = extent.max(points).checked_mul(2).and_then(|longest| longest.checked_add(1));
        extent > 0 && longest.is_some_and(|longest| longest.checked_mul(longest).is_some())
    };
    shape.len() == D + 2 && (1..=3).contains(&D) && shape[2..].iter().zip(points).all(fits)
}

/// `out[n, c, p] = input[n, c, p * spatial / extents]`, rounded down along each axis: the spatial `extents` by elements
/// that are repeated, or left out.
///
/// # Shapes
/// `input: [batch, channels, ..spatial]` with one to three spatial axes, `out: [batch, channels, ..extents]`.
#[codelet(
    R, W,
    cuda = crate::kernels::UPSAMPLE_NEAREST,
    shape(out = with_spatial(input.shape(), extents)),
    check(can_sample(&input.shape(), extents)),
    gradient = adjoint(upsample_nearest_backward),
    reference = crate::reference::upsample::upsample_nearest,
    error = rounded
)]
pub fn upsample_nearest<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
) {
    let from = spatial::<D>(input.shape());
    let input = row_major(&input);
    let input = elements(&input);
    write(out, |out| {
        if out.is_empty() {
            return;
        }
        let (len, points) = (from.iter().product(), extents.iter().product());
        for (input, out) in input.chunks_exact(len).zip(out.chunks_exact_mut(points)) {
            gather(input, [&from, &extents], out, |axis, point| point * from[axis] / extents[axis]);
        }
    });
}

/// The gradient of [`upsample_nearest`] by its input: each element gets the sum of the gradients by its copies.
///
/// # Shapes
/// `gradient` as the output of [`upsample_nearest`], `out` as its input.
#[codelet(
    R, W,
    cuda = crate::kernels::UPSAMPLE_NEAREST_BACKWARD,
    check(can_sample(&out.shape(), extents)),
    check(gradient.shape() == with_spatial(out.shape(), extents)),
    flops = gradient.len(),
    gradient = adjoint(upsample_nearest),
    reference = crate::reference::upsample::upsample_nearest_backward,
    error = sum(n = gradient.len() / (gradient.shape()[0] * gradient.shape()[1]).max(1))
)]
pub fn upsample_nearest_backward<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
) {
    let from = spatial::<D>(out.shape());
    let gradient = row_major(&gradient);
    let gradient = elements(&gradient);
    write(out, |out| {
        out.fill(T::ZERO);
        if gradient.is_empty() {
            return;
        }
        let (len, points) = (from.iter().product(), extents.iter().product());
        for (gradient, out) in gradient.chunks_exact(points).zip(out.chunks_exact_mut(len)) {
            scatter_add(gradient, [&from, &extents], out, |axis, point| point * from[axis] / extents[axis]);
        }
    });
}

/// The places of the points of each axis of a volume.
fn lines<const D: usize>(
    from: [usize; D],
    points: [usize; D],
    align_corners: bool,
) -> Lines<impl Fn(usize, usize) -> Place + Copy> {
    let leading = 3 - D;
    let volume = |of: [usize; D]| {
        std::array::from_fn(|axis: usize| axis.checked_sub(leading).map_or(1, |axis| of[axis]))
    };
    let (extents, counts): ([usize; 3], [usize; 3]) = (volume(from), volume(points));
    let place = move |axis: usize, point: usize| {
        let (extent, count) = (extents[axis], counts[axis]);
        if align_corners {
            [point * (extent - 1), (count - 1).max(1)]
        } else {
            [((2 * point + 1) * extent).saturating_sub(count), 2 * count]
        }
    };
    Lines { extents, points: counts, place }
}

/// The spatial `extents` by linear interpolation: bilinear for images, trilinear for volumes.
///
/// Along each axis, the element at `p` lies at `(p + 1/2) spatial / extents - 1/2` of the input, at least at 0; if
/// `align_corners` holds, at `p (spatial - 1) / (extents - 1)`, so that the first and the last elements keep their
/// values. Beyond the last element there is its value. Elements that have no weight have no effect, even if they are
/// not finite.
///
/// # Shapes
/// As for [`upsample_nearest`].
#[codelet(
    R, W,
    cuda = crate::kernels::UPSAMPLE_LINEAR,
    shape(out = with_spatial(input.shape(), extents)),
    check(can_sample(&input.shape(), extents)),
    flops = 8 * out.len(),
    gradient = adjoint(upsample_linear_backward),
    reference = crate::reference::upsample::upsample_linear,
    error = sum(n = 16)
)]
pub fn upsample_linear<T: Real, const D: usize>(
    input: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
    align_corners: bool,
) {
    let lines = lines(spatial(input.shape()), extents, align_corners);
    let input = row_major(&input);
    write(out, |out| lines.interpolate(elements(&input), out));
}

/// The gradient of [`upsample_linear`] by its input.
///
/// # Shapes
/// `gradient` as the output of [`upsample_linear`], `out` as its input.
#[codelet(
    R, W,
    cuda = crate::kernels::UPSAMPLE_LINEAR_BACKWARD,
    check(can_sample(&out.shape(), extents)),
    check(gradient.shape() == with_spatial(out.shape(), extents)),
    flops = 8 * gradient.len(),
    gradient = adjoint(upsample_linear),
    reference = crate::reference::upsample::upsample_linear_backward,
    error = sum(n = gradient.len() / (gradient.shape()[0] * gradient.shape()[1]).max(1) + 16)
)]
pub fn upsample_linear_backward<T: Real, const D: usize>(
    gradient: ArrayViewD<T>,
    out: ArrayViewMutD<T>,
    extents: [usize; D],
    align_corners: bool,
) {
    let lines = lines(spatial(out.shape()), extents, align_corners);
    let gradient = row_major(&gradient);
    write(out, |out| lines.backward(elements(&gradient), out));
}
