//! [`Upsample`]: other spatial extents by repeated or interpolated elements.

use dahl::ops;
use dahl::prelude::*;

use crate::module::Module;
use crate::step::Step;

/// The extents of the output.
#[derive(Clone, Copy, Debug)]
enum Extents<const D: usize> {
    Of([usize; D]),
    Times([usize; D]),
}

/// Where the elements of the output come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UpsampleMode {
    /// The element at the same place, rounded down; PyTorch's `nearest`.
    #[default]
    Nearest,
    /// Linear interpolation between the places of the elements' middles: bilinear for images, trilinear for volumes.
    Linear,
    /// Linear interpolation where the first and the last elements keep their values; PyTorch's `align_corners`.
    LinearAligned,
}

/// Other spatial extents along `D` axes, one to three; PyTorch's `Upsample`.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::layer::{Upsample, UpsampleMode};
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let x = rt.from_vec([1, 1, 2], vec![1.0_f32, 3.0])?;
/// let step = Step::evaluating(&rt);
/// assert_eq!(Upsample::by([2]).forward(&step, &x)?.to_vec()?, [1.0, 1.0, 3.0, 3.0]);
/// let linear = Upsample::to([4]).mode(UpsampleMode::Linear);
/// assert_eq!(linear.forward(&step, &x)?.to_vec()?, [1.0, 1.5, 2.5, 3.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// `[batch, channels, ..extents]` to `[batch, channels, ..]` with the extents of the layer, or the input's times its factors.
#[derive(Clone, Copy, Debug, Module)]
#[module(crate = crate)]
pub struct Upsample<const D: usize> {
    #[module(skip)]
    extents: Extents<D>,
    #[module(skip)]
    mode: UpsampleMode,
}

impl<const D: usize> Upsample<D> {
    /// The input's extents times these factors, by the nearest elements.
    pub const fn by(factors: [usize; D]) -> Self {
        Self { extents: Extents::Times(factors), mode: UpsampleMode::Nearest }
    }

    /// These extents, by the nearest elements.
    pub const fn to(extents: [usize; D]) -> Self {
        Self { extents: Extents::Of(extents), mode: UpsampleMode::Nearest }
    }

    /// Sets where elements come from.
    pub const fn mode(mut self, mode: UpsampleMode) -> Self {
        self.mode = mode;
        self
    }

    /// Maps a batch, of rank `D + 2`.
    ///
    /// # Errors
    /// If the rank is another one, there are too many elements, and those of the operation.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        step: &'s Step<'_>,
        input: &Array<'_, T, N>,
    ) -> dahl::Result<Array<'s, T, N>> {
        let extent = |axis: usize| input.shape().get(axis + 2).copied().unwrap_or(0);
        let extents = match self.extents {
            Extents::Of(extents) => extents,
            Extents::Times(factors) => std::array::from_fn(|axis| extent(axis).saturating_mul(factors[axis])),
        };
        match self.mode {
            UpsampleMode::Nearest => ops::upsample_nearest_init(step, input, extents),
            UpsampleMode::Linear => ops::upsample_linear_init(step, input, extents, false),
            UpsampleMode::LinearAligned => ops::upsample_linear_init(step, input, extents, true),
        }
    }
}
