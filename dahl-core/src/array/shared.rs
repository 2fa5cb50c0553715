//! [`Shared`]: another owner of an array, whose element type and rank are not known.
#![allow(unsafe_code, reason = "lends arrays whose lifetime the caller answers for")]

use std::ptr::NonNull;

use super::Array;
use super::handle::{Handle, PartLayout};
use crate::element::{Element, ElementType};
use crate::graph::ArrayState;

/// An owner of a whole array. It hands out what submits tasks; their order is that of their submission, whoever submits
/// them. `graph/saves.rs` says why nobody changes the elements meanwhile.
#[derive(Debug)]
pub(crate) struct Shared(Handle);

impl Shared {
    /// Another owner of the array of a handle, unless it is a part of another array.
    pub(crate) fn of(state: &ArrayState) -> Option<Self> {
        state.whole().is_none().then(|| Self::of_whole(state))
    }

    /// Another owner of a whole array.
    pub(crate) fn of_whole(state: &ArrayState) -> Self {
        debug_assert!(state.whole().is_none(), "a part has the owner of its whole array");
        Self(Handle::of(state))
    }

    /// The first owner of a new state.
    pub(crate) fn of_new(state: NonNull<ArrayState>) -> Self {
        Self(Handle::first(state))
    }

    pub(crate) fn state(&self) -> &ArrayState {
        self.0.state()
    }

    pub(crate) fn element(&self) -> &ElementType {
        self.state().element().expect("an array that is owned has an element type")
    }

    /// The number of elements, which have a size.
    pub(crate) fn len(&self) -> usize {
        self.state().bytes() / self.element().size_bytes
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
        Self(self.0.share())
    }

    /// The array with its type, in a shape of as many elements.
    ///
    /// # Panics
    /// If its elements are of another type, or of another number.
    pub(crate) fn into_array<T: Element, const N: usize>(self, shape: [usize; N]) -> Array<'static, T, N> {
        self.assert_fits::<T>(&shape);
        Array::of_handle(self.0, shape, PartLayout::Whole)
    }

    /// The array with its type, in a shape of as many elements, without another owner.
    ///
    /// # Panics
    /// As for [`into_array`](Self::into_array).
    ///
    /// # Safety
    /// An owner of the array lives for `'a`.
    pub(crate) unsafe fn lend<'a, T: Element, const N: usize>(&self, shape: [usize; N]) -> Array<'a, T, N> {
        self.assert_fits::<T>(&shape);
        Array::of_handle(self.0.borrowed(), shape, PartLayout::Whole)
    }

    fn assert_fits<T: Element>(&self, shape: &[usize]) {
        let (element, bytes) = (self.element(), self.state().bytes());
        assert!(element.is::<T>(), "the elements are {}, not {}", element.name, T::NAME);
        assert_eq!(shape.iter().product::<usize>() * size_of::<T>(), bytes, "another number of elements");
    }

    /// The owner that an array is, unless the array borrows another one's elements.
    pub(crate) fn from_array<T: Element, const N: usize>(array: Array<'_, T, N>) -> Option<Self> {
        array.into_handle().map(Self)
    }
}
