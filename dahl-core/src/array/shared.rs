//! [`Shared`]: another owner of an array, whose element type and rank are not known.

use std::ptr::NonNull;

use super::Array;
use super::handle::{Handle, PartLayout};
use crate::element::{Element, ElementType};
use crate::graph::ArrayState;

/// An owner of a whole array. It hands out what submits tasks; their order is that of their submission, whoever submits
/// them. `graph/saves.rs` says why nobody changes the elements meanwhile.
#[derive(Debug)]
pub(crate) struct Shared {
    handle: Handle,
    element: ElementType,
    len: usize,
}

impl Shared {
    /// Another owner of the array of a handle, unless it is a part of another array.
    pub(crate) fn of(state: &ArrayState) -> Option<Self> {
        let element = state.element()?;
        let len = state.bytes().checked_div(element.size_bytes)?;
        let is_whole = state.whole().is_none();
        is_whole.then(|| Self { handle: Handle::of(state), element, len })
    }

    /// The first owner of a new state.
    pub(crate) fn of_new(state: NonNull<ArrayState>, element: ElementType, len: usize) -> Self {
        Self { handle: Handle::first(state), element, len }
    }

    pub(crate) fn state(&self) -> &ArrayState {
        self.handle.state()
    }

    pub(crate) fn element(&self) -> ElementType {
        self.element
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether nobody else owns the array.
    pub(crate) fn is_sole(&self) -> bool {
        self.state().owners().is_sole()
    }

    /// How many own the array.
    pub(crate) fn owners(&self) -> usize {
        self.state().owners().count()
    }

    /// One more owner.
    pub(crate) fn share(&self) -> Self {
        Self { handle: self.handle.share(), element: self.element, len: self.len }
    }

    /// The array with its type, in a shape of as many elements.
    ///
    /// # Panics
    /// If its elements are of another type, or of another number.
    pub(crate) fn into_array<T: Element, const N: usize>(self, shape: [usize; N]) -> Array<'static, T, N> {
        assert!(self.element.is::<T>(), "the elements are {}, not {}", self.element.name, T::NAME);
        assert_eq!(shape.iter().product::<usize>(), self.len, "another number of elements");
        Array::of_handle(self.handle, shape, PartLayout::Whole)
    }

    /// The owner that an array is, unless the array borrows another one's elements.
    pub(crate) fn from_array<T: Element, const N: usize>(array: Array<'_, T, N>) -> Option<Self> {
        let len = array.len();
        let handle = array.into_handle()?;
        Some(Self { handle, element: ElementType::of::<T>(), len })
    }
}
