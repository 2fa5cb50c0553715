//! Operations on images channel by channel: normalisations, poolings, other extents.

use dahl::Result;
use dahl::ops::{self, PadMode, PoolGeometry};
use dahl::prelude::*;

use crate::clock::{Clock, Measured};
use crate::request::Request;

const EPSILON: f64 = 1e-5;

/// Extents: batch, channels, the image's side. Backward: all gradients.
pub(crate) fn batch_norm<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side] = request.extents();
    let (rt, shape) = (clock.rt, [batch, channels, side, side]);
    let (input, weight) = (clock.numbers::<T, 4>(shape)?, clock.numbers::<T, 1>([channels])?);
    let bias = clock.numbers::<T, 1>([channels])?;
    let mut out = rt.zeros(shape)?;
    let [mut of_channels, mut others] = [rt.zeros([channels])?, rt.zeros([channels])?];
    let epsilon = T::from_f64(EPSILON);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| {
            ops::batch_norm(&input, &weight, &bias, &mut out, &mut of_channels, &mut others, epsilon)
        });
    }
    let gradient = clock.numbers::<T, 4>(shape)?;
    clock.calls_and_copies(|| {
        let by_affine = (&mut of_channels, &mut others);
        ops::batch_norm_backward(&input, &weight, &gradient, &mut out, by_affine.0, by_affine.1, epsilon)
    })
}

/// Extents: batch, channels, groups, the image's side. Backward: all gradients.
pub(crate) fn group_norm<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, groups, side] = request.extents();
    let (rt, shape) = (clock.rt, [batch, channels, side, side]);
    let (input, weight) = (clock.numbers::<T, 4>(shape)?, clock.numbers::<T, 1>([channels])?);
    let bias = clock.numbers::<T, 1>([channels])?;
    let (mut out, epsilon) = (rt.zeros(shape)?, T::from_f64(EPSILON));
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::group_norm(&input, &weight, &bias, &mut out, groups, epsilon));
    }
    let gradient = clock.numbers::<T, 4>(shape)?;
    let [mut by_weight, mut by_bias] = [rt.zeros([channels])?, rt.zeros([channels])?];
    clock.calls_and_copies(|| {
        let by_affine = (&mut by_weight, &mut by_bias);
        ops::group_norm_backward(
            &input,
            &weight,
            &gradient,
            &mut out,
            by_affine.0,
            by_affine.1,
            groups,
            epsilon,
        )
    })
}

/// The window of these poolings, which overlap: 3 by 3 with a stride of 2 and a padding of 1.
fn window() -> PoolGeometry<2> {
    PoolGeometry::new([3; 2]).stride([2; 2]).padding([1; 2])
}

/// Extents: batch, channels, the image's side, which is even.
pub(crate) fn max_pool<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side] = request.extents();
    let (rt, shape, pooled) =
        (clock.rt, [batch, channels, side, side], [batch, channels, side / 2, side / 2]);
    let mut images = clock.numbers::<T, 4>(shape)?;
    let (mut out, mut index) = (rt.zeros::<T, 4>(pooled)?, rt.zeros::<u32, 4>(pooled)?);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::max_pool(&images, &mut out, &mut index, window()));
    }
    ops::max_pool(&images, &mut out, &mut index, window())?;
    clock.calls_and_copies(|| ops::max_pool_backward(&out, &index, &mut images, [side; 2]))
}

/// As [`max_pool`].
pub(crate) fn avg_pool<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side] = request.extents();
    let mut images = clock.numbers::<T, 4>([batch, channels, side, side])?;
    let mut out = clock.numbers::<T, 4>([batch, channels, side / 2, side / 2])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::avg_pool(&images, &mut out, window()));
    }
    clock.calls_and_copies(|| ops::avg_pool_backward(&out, &mut images, window()))
}

/// Extents: batch, channels, the image's side, that of the result.
pub(crate) fn upsample_nearest<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side, larger] = request.extents();
    let mut images = clock.numbers::<T, 4>([batch, channels, side, side])?;
    let mut out = clock.numbers::<T, 4>([batch, channels, larger, larger])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::upsample_nearest(&images, &mut out, [larger; 2]));
    }
    clock.calls_and_copies(|| ops::upsample_nearest_backward(&out, &mut images, [larger; 2]))
}

/// As [`upsample_nearest`], interpolated, without aligned corners.
pub(crate) fn upsample_linear<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side, larger] = request.extents();
    let mut images = clock.numbers::<T, 4>([batch, channels, side, side])?;
    let mut out = clock.numbers::<T, 4>([batch, channels, larger, larger])?;
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::upsample_linear(&images, &mut out, [larger; 2], false));
    }
    clock.calls_and_copies(|| ops::upsample_linear_backward(&out, &mut images, [larger; 2], false))
}

/// Extents: batch, channels, the image's side, elements on each side of it: zeros.
pub(crate) fn pad<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side, border] = request.extents();
    let images = clock.numbers::<T, 4>([batch, channels, side, side])?;
    let mut out = clock.rt.zeros::<T, 4>([batch, channels, side + 2 * border, side + 2 * border])?;
    let borders = [0, 0, border, border];
    clock.calls_and_copies(|| ops::pad(&images, &mut out, borders, borders, T::ZERO))
}

/// As [`pad`], with the image mirrored.
pub(crate) fn pad_reflect<T: Real>(clock: &Clock<'_>, request: &Request) -> Result<Measured> {
    let [batch, channels, side, border] = request.extents();
    let mut images = clock.numbers::<T, 4>([batch, channels, side, side])?;
    let mut out = clock.numbers::<T, 4>([batch, channels, side + 2 * border, side + 2 * border])?;
    let (borders, mode) = ([0, 0, border, border], PadMode::Reflect);
    if request.direction == "forward" {
        return clock.calls_and_copies(|| ops::pad_copies(&images, &mut out, borders, borders, mode));
    }
    clock.calls_and_copies(|| ops::pad_copies_backward(&out, &mut images, borders, borders, mode))
}
