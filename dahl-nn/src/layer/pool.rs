//! Pooling over one to three axes: [`MaxPool`], [`AvgPool`], to given extents ([`AdaptiveMaxPool`], [`AdaptiveAvgPool`]), and
//! by random windows ([`FractionalMaxPool`]).
//!
//! [`MaxPool2d`](super::MaxPool2d) and [`AvgPool2d`](super::AvgPool2d) are faster for images, where they apply.

use dahl::ops::{self, PoolGeometry};
use dahl::prelude::*;

use crate::module::Module;
use crate::setting::{self, listed};
use crate::step::Step;

/// The maximum of each window of sequences, `[batch, channels, extent]`; PyTorch's `MaxPool1d`.
pub type MaxPool1d = MaxPool<1>;
/// The maximum of each window of volumes; PyTorch's `MaxPool3d`.
pub type MaxPool3d = MaxPool<3>;
/// The mean of each window of sequences; PyTorch's `AvgPool1d`.
pub type AvgPool1d = AvgPool<1>;
/// The mean of each window of volumes; PyTorch's `AvgPool3d`.
pub type AvgPool3d = AvgPool<3>;

macro_rules! pools {
    ($($(#[$doc:meta])* $Name:ident[$field:ident: $Type:ty]($step:ident, $input:ident, $layer:ident) => $forward:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Module)]
        #[module(crate = crate)]
        pub struct $Name<const D: usize> {
            #[module(skip)]
            $field: $Type,
        }

        impl<const D: usize> $Name<D> {
            /// A layer with these settings. Invalid ones are an error of [`forward`](Self::forward).
            pub const fn new($field: $Type) -> Self {
                Self { $field }
            }

            /// Maps a batch, of rank `D + 2`.
            ///
            /// # Errors
            /// If the rank or a setting does not fit, and those of the operation.
            #[track_caller]
            pub fn forward<'s, T: Real, const N: usize>(
                &self,
                $step: &'s Step<'_>,
                $input: &Array<'_, T, N>,
            ) -> dahl::Result<Array<'s, T, N>> {
                let $layer = self;
                $forward
            }
        }
    )+};
}

pools! {
    /// The maximum of each window of every channel, with stride, padding, dilation and rounding up. Padding is never a
    /// maximum.
    ///
    /// ```
    /// use dahl::ops::PoolGeometry;
    /// use dahl::prelude::*;
    /// use dahl_nn::prelude::*;
    ///
    /// # fn main() -> dahl::Result<()> {
    /// let rt = Runtime::new()?;
    /// let x = rt.from_vec([1, 1, 5], vec![1.0_f32, 4.0, 2.0, 0.0, 3.0])?;
    /// let pool = MaxPool::new(PoolGeometry::new([3]).stride([2]).padding([1]));
    /// assert_eq!(pool.forward(&Step::evaluating(&rt), &x)?.to_vec()?, [4.0, 4.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    /// `[batch, channels, ..extents]` to `[batch, channels, (extent + 2 padding - dilation (size - 1) - 1) / stride + 1, ..]`.
    MaxPool[geometry: PoolGeometry<D>](step, input, layer) => {
        Ok(ops::max_pool_init(step, input, layer.geometry)?.0)
    };
    /// The mean of each window of every channel, with stride, padding, which counts as zeros or not, and rounding up.
    ///
    /// # Shapes
    /// As for [`MaxPool`].
    AvgPool[geometry: PoolGeometry<D>](step, input, layer) => ops::avg_pool_init(step, input, layer.geometry);
    /// The maximum of each of so many windows, which divide the input as evenly as they can.
    ///
    /// # Shapes
    /// `[batch, channels, ..]` to `[batch, channels, ..extents]`.
    AdaptiveMaxPool[extents: [usize; D]](step, input, layer) => {
        Ok(ops::adaptive_max_pool_init(step, input, layer.extents)?.0)
    };
    /// The mean of each of so many windows, which divide the input as evenly as they can. With extents of 1 it is the mean of a
    /// channel.
    ///
    /// # Shapes
    /// As for [`AdaptiveMaxPool`].
    AdaptiveAvgPool[extents: [usize; D]](step, input, layer) => {
        ops::adaptive_avg_pool_init(step, input, layer.extents)
    };
}

/// The maximum of windows at random distances, as many as the `extents` (Graham 2014, *Fractional Max-Pooling*). The windows are
/// drawn in each step, with its random numbers, in training and in evaluation.
///
/// # Shapes
/// `[batch, channels, ..]` to `[batch, channels, ..extents]`, where `size + extents - 1` is at most the extent of the input.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct FractionalMaxPool<const D: usize> {
    #[module(skip)]
    size: [usize; D],
    #[module(skip)]
    extents: [usize; D],
}

impl<const D: usize> FractionalMaxPool<D> {
    /// A layer with windows of `size`, to the given extents.
    ///
    /// # Errors
    /// If an extent or the window is 0.
    #[track_caller]
    pub fn new(size: [usize; D], extents: [usize; D]) -> dahl::Result<Self> {
        let expected = "extents from 1";
        setting::require(!size.contains(&0), "FractionalMaxPool: size", listed(&size), expected)?;
        setting::require(!extents.contains(&0), "FractionalMaxPool: extents", listed(&extents), expected)?;
        Ok(Self { size, extents })
    }

    /// Maps a batch, of rank `D + 2`.
    ///
    /// # Errors
    /// If so many windows do not fit, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let planes: usize = input.shape().iter().take(2).product();
        let numbers = step.numbers(planes * D);
        Ok(ops::fractional_max_pool_init(step, input, self.size, self.extents, numbers)?.0)
    }
}
