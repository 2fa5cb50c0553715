//! [`Flatten`] and [`Reshape`]: the same elements in another shape. They take arrays by value, and copy nothing.

use dahl::prelude::*;

use crate::module::Module;
use crate::setting::Settings;

/// All features of a sample in one row.
///
/// # Shapes
/// `[batch, ..]` to `[batch, features]`.
#[derive(Clone, Copy, Debug, Default, Module)]
#[module(crate = crate)]
pub struct Flatten;

impl Flatten {
    /// Flattens a batch.
    ///
    /// # Errors
    /// If it has no axis, or is a part of an array that is not contiguous.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        input: Array<'s, T, N>,
    ) -> dahl::Result<Matrix<'s, T>> {
        let shape = input.shape();
        let Some((&batch, features)) = shape.split_first() else {
            return Err(dahl::Error::invalid_shape("Flatten", "the input has no axis".to_owned()));
        };
        input.reshape([batch, features.iter().product()])
    }
}

/// Another shape, of which one extent may be whatever is left.
///
/// ```
/// use dahl::prelude::*;
/// use dahl_nn::prelude::*;
///
/// # fn main() -> dahl::Result<()> {
/// let rt = Runtime::new()?;
/// let x = rt.zeros::<f32, 2>([5, 12])?;
/// assert_eq!(Reshape::new([-1, 3, 2, 2]).forward(x)?.shape(), [5, 3, 2, 2]);
/// # Ok(())
/// # }
/// ```
///
/// # Shapes
/// As many elements.
#[derive(Clone, Debug, Module)]
#[module(crate = crate)]
pub struct Reshape<const K: usize> {
    #[module(skip)]
    shape: [isize; K],
    #[module(skip)]
    settings: Settings,
}

impl<const K: usize> Reshape<K> {
    /// A layer to this shape; -1 stands for what is left. Other negative extents, and more than one of -1, are an error of
    /// [`forward`](Self::forward), with the line of this call.
    #[track_caller]
    pub fn new(shape: [isize; K]) -> Self {
        let mut settings = Settings::default();
        let left = shape.iter().filter(|&&extent| extent == -1).count();
        let is_shape = left <= 1 && shape.iter().all(|&extent| extent >= -1);
        let expected = "extents from 0, and at most one of -1";
        settings.require(is_shape, "Reshape: shape", format_args!("{shape:?}"), expected);
        Self { shape, settings }
    }

    /// Gives an array this shape.
    ///
    /// # Errors
    /// If the shape is invalid, or does not have as many elements.
    #[track_caller]
    pub fn forward<'s, T: Real, const N: usize>(
        &self,
        input: Array<'s, T, N>,
    ) -> dahl::Result<Array<'s, T, K>> {
        self.settings.check()?;
        let given = self.shape.iter().filter_map(|&extent| usize::try_from(extent).ok());
        let known = given.fold(1_usize, usize::saturating_mul);
        let left = input.len().checked_div(known).filter(|left| left * known == input.len());
        if left.is_none() && self.shape.contains(&-1) {
            let fact =
                format!("{} elements of shape {:?} do not fit {:?}", input.len(), input.shape(), self.shape);
            return Err(dahl::Error::invalid_shape("Reshape", fact));
        }
        let shape = self.shape.map(|extent| usize::try_from(extent).ok().or(left).unwrap_or(0));
        input.reshape(shape)
    }
}
