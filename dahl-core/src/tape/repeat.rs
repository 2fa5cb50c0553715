//! [`Repeat`]: an operation of several tasks that is run again.

use crate::array::{Array, Shared};
use crate::element::Element;
use crate::shape::Layout;

/// The arrays of an operation of several tasks, for the code that runs them again.
#[derive(Debug)]
pub struct Repeat<'a> {
    pub(super) arrays: &'a [Shared],
    /// Their extents.
    pub(super) layouts: &'a [Layout],
    pub(super) arguments: &'a [u8],
}

impl Repeat<'_> {
    /// An array. An output has no value yet.
    pub fn array<T: Element, const N: usize>(&self, index: usize) -> Array<'static, T, N> {
        let extents = self.layouts[index].extents();
        let shape = extents.try_into().expect("the operation has the rank that it had");
        self.arrays[index].share().into_array(shape)
    }

    /// The number of arrays.
    pub fn arrays(&self) -> usize {
        self.arrays.len()
    }

    /// The first argument.
    pub fn argument<A: crate::argument::Argument>(&self) -> A {
        A::decode(&self.arguments[..A::SIZE_BYTES])
    }
}
