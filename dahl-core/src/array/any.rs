//! [`AnyArray`]: an array whose element type and rank are not known.

use super::Array;
use crate::element::{Element, ElementType};
use crate::error::Result;

mod sealed {
    pub trait Sealed {}
}

/// An array of any element type and rank.
pub trait AnyArray: sealed::Sealed {
    /// The element type.
    fn element(&self) -> ElementType;

    /// The extents.
    fn extents(&self) -> Vec<usize>;

    /// Waits for the tasks that write it, and copies the elements in row-major order, as bytes.
    ///
    /// # Errors
    /// As for [`Array::read`].
    #[track_caller]
    fn bytes(&self) -> Result<Vec<u8>>;
}

impl<T: Element, const N: usize> sealed::Sealed for Array<'_, T, N> {}

impl<T: Element, const N: usize> AnyArray for Array<'_, T, N> {
    fn element(&self) -> ElementType {
        ElementType::of::<T>()
    }

    fn extents(&self) -> Vec<usize> {
        self.shape().to_vec()
    }

    #[track_caller]
    fn bytes(&self) -> Result<Vec<u8>> {
        Ok(bytemuck::cast_slice(&self.to_vec()?).to_vec())
    }
}
