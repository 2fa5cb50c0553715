//! Padding along the last axes: with a constant ([`ConstantPad`]), or with elements of the input ([`ReflectionPad`],
//! [`ReplicationPad`], [`CircularPad`]).

use dahl::ops::{self, PadMode};
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// The padding of each axis of an array of rank `N`, whose last `D` axes are padded.
///
/// # Errors
/// If there are fewer axes.
#[track_caller]
fn of_all_axes<const D: usize, const N: usize>(
    layer: &'static str,
    padding: [usize; D],
) -> dahl::Result<[usize; N]> {
    let Some(leading) = N.checked_sub(D) else {
        let fact = format!("it pads {D} axes, but the input has {N}");
        return Err(dahl::Error::invalid_shape(layer, fact));
    };
    Ok(std::array::from_fn(|axis| axis.checked_sub(leading).map_or(0, |axis| padding[axis])))
}

/// A constant around the last `D` axes: PyTorch's `ConstantPad1d`, `2d` and `3d`, and its `ZeroPad`s with the constant 0.
///
/// # Shapes
/// `[.., ..extents]` to `[.., before + extent + after, ..]`.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct ConstantPad<const D: usize> {
    #[module(skip)]
    before: [usize; D],
    #[module(skip)]
    after: [usize; D],
    value: f64,
}

impl<const D: usize> ConstantPad<D> {
    /// `padding` elements of this value before and after each of the last `D` axes.
    pub const fn new(padding: [usize; D], value: f64) -> Self {
        Self::sides(padding, padding, value)
    }

    /// Elements of this value `before` and `after` each of the last `D` axes.
    pub const fn sides(before: [usize; D], after: [usize; D], value: f64) -> Self {
        Self { before, after, value }
    }

    /// Pads an array.
    ///
    /// # Errors
    /// If it has fewer axes, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let [before, after] =
            [self.before, self.after].map(|padding| of_all_axes::<D, N>("ConstantPad", padding));
        ops::pad_init(step, input, before?, after?, T::from_f64(self.value))
    }
}

macro_rules! copies {
    ($($(#[$doc:meta])* $Name:ident => $mode:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Module)]
        #[module(crate = crate)]
        pub struct $Name<const D: usize> {
            #[module(skip)]
            before: [usize; D],
            #[module(skip)]
            after: [usize; D],
        }

        impl<const D: usize> $Name<D> {
            /// `padding` elements before and after each of the last `D` axes.
            pub const fn new(padding: [usize; D]) -> Self {
                Self::sides(padding, padding)
            }

            /// Elements `before` and `after` each of the last `D` axes.
            pub const fn sides(before: [usize; D], after: [usize; D]) -> Self {
                Self { before, after }
            }

            /// Pads an array.
            ///
            /// # Errors
            /// If it has fewer axes, the padding is too large for an axis, and those of the operation.
            #[track_caller]
            pub fn forward<'s, T: Real, const N: usize>(
                &self,
                step: &'s Step<'_>,
                input: &Array<'_, T, N>,
            ) -> dahl::Result<Array<'s, T, N>> {
                let name = stringify!($Name);
                let [before, after] = [self.before, self.after].map(|padding| of_all_axes::<D, N>(name, padding));
                ops::pad_copies_init(step, input, before?, after?, PadMode::$mode)
            }
        }
    )+};
}

copies! {
    /// The input mirrored at its first and last elements, which are not repeated, around the last `D` axes. The padding is below
    /// the extent.
    ///
    /// # Shapes
    /// As for [`ConstantPad`].
    ReflectionPad => Reflect;
    /// The first and the last elements around the last `D` axes.
    ///
    /// # Shapes
    /// As for [`ConstantPad`].
    ReplicationPad => Replicate;
    /// The input again around the last `D` axes. The padding is at most the extent.
    ///
    /// # Shapes
    /// As for [`ConstantPad`].
    CircularPad => Circular;
}
