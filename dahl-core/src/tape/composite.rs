//! [`Composite`]: an operation that consists of several tasks.

use std::panic::Location;

use super::gradient::Gradient;
use super::repeat::Repeat;
use crate::array::Array;
use crate::codelet::Codelet;
use crate::element::{Element, ElementType};
use crate::error::Result;
use crate::graph::ArrayState;
use crate::shape::Layout;

/// An operation that consists of several tasks, as a tape remembers it: its arrays, in place of a task's.
#[derive(Debug)]
pub struct Composite<'a> {
    pub(super) codelet: &'static Codelet,
    pub(super) gradient: &'static Gradient,
    pub(super) location: &'static Location<'static>,
    pub(super) operands: Vec<(&'a ArrayState, &'static ElementType, Layout)>,
    pub(super) arguments: Vec<u8>,
    pub(super) repeat: fn(&Repeat<'_>) -> Result<()>,
}

impl<'a> Composite<'a> {
    /// Without arrays. The codelet has no kernel: it names the operation and its arrays, the last of them for all that
    /// follow. `repeat` submits the tasks again, on other arrays.
    #[track_caller]
    pub fn new(
        codelet: &'static Codelet,
        gradient: &'static Gradient,
        repeat: fn(&Repeat<'_>) -> Result<()>,
    ) -> Self {
        Self {
            codelet,
            gradient,
            location: Location::caller(),
            operands: Vec::new(),
            arguments: Vec::new(),
            repeat,
        }
    }

    /// With another array.
    pub fn array<T: Element, const N: usize>(mut self, array: &'a Array<'_, T, N>) -> Self {
        self.operands.push((array.state(), const { &ElementType::of::<T>() }, array.layout()));
        self
    }

    /// With another argument.
    pub fn argument<A: crate::argument::Argument>(mut self, value: A) -> Self {
        let start = self.arguments.len();
        self.arguments.resize(start + A::SIZE_BYTES, 0);
        value.encode(&mut self.arguments[start..]);
        self
    }
}
