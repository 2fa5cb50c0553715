//! [`Reshaped`] and [`ReshapedMut`]: an array seen in another shape, without a copy.

use std::ops::{Deref, DerefMut};

use super::Array;
use crate::element::Element;
use crate::error::Result;

/// An array in another shape, borrowed. See [`Array::reshaped`].
#[derive(Debug)]
pub struct Reshaped<'a, T: crate::Element, const N: usize>(Array<'a, T, N>);

/// An array in another shape, borrowed mutably. See [`Array::reshaped_mut`].
#[derive(Debug)]
pub struct ReshapedMut<'a, T: crate::Element, const N: usize>(Array<'a, T, N>);

impl<'a, T: crate::Element, const N: usize> Reshaped<'a, T, N> {
    pub(super) fn new(array: Array<'a, T, N>) -> Self {
        Self(array)
    }
}

impl<'a, T: crate::Element, const N: usize> ReshapedMut<'a, T, N> {
    pub(super) fn new(array: Array<'a, T, N>) -> Self {
        Self(array)
    }
}

impl<'a, T: crate::Element, const N: usize> Deref for Reshaped<'a, T, N> {
    type Target = Array<'a, T, N>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a, T: crate::Element, const N: usize> Deref for ReshapedMut<'a, T, N> {
    type Target = Array<'a, T, N>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: crate::Element, const N: usize> DerefMut for ReshapedMut<'_, T, N> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<'m, T: Element, const N: usize> Array<'m, T, N> {
    /// The same elements along one axis, in row-major order; nothing is copied.
    ///
    /// # Errors
    /// If this is a part whose elements are not contiguous.
    #[track_caller]
    pub fn flatten(self) -> Result<Array<'m, T, 1>> {
        let len = self.len();
        self.reshape([len])
    }

    /// The same elements along one axis, in row-major order, borrowed; nothing is copied.
    ///
    /// # Errors
    /// As [`flatten`](Array::flatten).
    #[track_caller]
    pub fn flattened(&self) -> Result<Reshaped<'_, T, 1>> {
        self.reshaped([self.len()])
    }

    /// The same elements along one axis, in row-major order, borrowed mutably; nothing is copied.
    ///
    /// # Errors
    /// As [`flatten`](Array::flatten).
    #[track_caller]
    pub fn flattened_mut(&mut self) -> Result<ReshapedMut<'_, T, 1>> {
        self.reshaped_mut([self.len()])
    }
}
