//! [`WorkInputs`]: the extents and arguments of a task, as `flops = ..` and `bytes = ..` see them.

use crate::argument::Argument;
use crate::shape::{DynExtents, MAX_RANK};

/// The extents of a task's data parameters and the values of its arguments, in the order of the declaration.
#[derive(Debug)]
pub struct WorkInputs<'a> {
    extents: &'a [ShapeOf],
    next: usize,
    arguments: &'a [u8],
}

/// The extents of one data parameter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShapeOf {
    rank: usize,
    extents: [usize; MAX_RANK],
}

impl ShapeOf {
    pub(crate) fn new(shape: &[usize]) -> Self {
        let mut extents = [0; MAX_RANK];
        extents[..shape.len()].copy_from_slice(shape);
        Self { rank: shape.len(), extents }
    }

    /// The number of elements.
    pub(crate) fn len(&self) -> usize {
        self.extents[..self.rank].iter().product()
    }
}

impl<'a> WorkInputs<'a> {
    pub(crate) fn new(extents: &'a [ShapeOf], arguments: &'a [u8]) -> Self {
        Self { extents, next: 0, arguments }
    }

    /// The extents of the next data parameter.
    ///
    /// # Panics
    /// If there is none.
    pub fn extents(&mut self) -> DynExtents<'a> {
        let shape = &self.extents[self.next];
        self.next += 1;
        DynExtents::new(&shape.extents[..shape.rank])
    }

    /// The number of elements of the largest data parameter.
    pub(crate) fn largest_len(&self) -> usize {
        self.extents.iter().map(ShapeOf::len).max().unwrap_or(0)
    }

    /// The next argument.
    ///
    /// # Panics
    /// If there is none.
    pub fn argument<A: Argument>(&mut self) -> A {
        let (argument, rest) = self.arguments.split_at(A::SIZE_BYTES);
        self.arguments = rest;
        A::decode(argument)
    }
}
