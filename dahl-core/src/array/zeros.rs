//! New arrays of zeros, in memory of their own, and arrays that outlive their arena.

use std::panic::Location;

use super::handle::Array;
use super::len::byte_len;
use super::shared::Shared;
use crate::element::Element;
use crate::error::Result;
use crate::graph::Engine;
use crate::memory::{Block, Holder};
use crate::task::block_in_submission;

impl<T: Element, const N: usize> Array<'_, T, N> {
    /// An array of zeros of the same shape and runtime, in memory of its own.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn zeros_like(&self) -> Result<Array<'static, T, N>> {
        self.zeros_of(self.shape())
    }

    /// The same array, of a lifetime of its own: an arena that it was made in keeps its memory for as long as the array lives.
    ///
    /// # Errors
    /// The array as it is, if it is a part or a view of another array.
    pub fn into_static(self) -> std::result::Result<Array<'static, T, N>, Self> {
        if !self.is_owner() {
            return Err(self);
        }
        let shape = self.shape();
        Ok(Shared::from_array(self).expect("it is an owner").into_array(shape))
    }

    /// An array of zeros of any shape and element type, of the same runtime, in memory of its own.
    ///
    /// # Errors
    /// If memory cannot be allocated.
    #[track_caller]
    pub fn zeros_of<U: Element, const M: usize>(&self, shape: [usize; M]) -> Result<Array<'static, U, M>> {
        let engine = self.state().engine();
        Ok(Array::from_block(engine, shape, block_for::<U>(&**engine, &shape)?))
    }
}

/// The bytes of an array of `shape`, and a new block for them.
#[track_caller]
pub(crate) fn block_for<T: Element>(engine: &dyn Engine, shape: &[usize]) -> Result<Block> {
    let bytes = byte_len::<T>(shape)?;
    let location = Location::caller();
    block_in_submission(engine, bytes, Holder::new("array", location))
        .map_err(|shortage| shortage.at(location))
}
