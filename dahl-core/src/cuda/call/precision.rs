//! [`Precision`]: the element types that libraries compute with.

use crate::element::Element;

/// A type of elements, as libraries number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Precision {
    F16,
    Bf16,
    F32,
    F64,
}

impl Precision {
    /// That of elements of type `T`, if libraries have it.
    pub(super) fn of<T: Element>() -> Option<Self> {
        match T::NAME {
            "f16" => Some(Self::F16),
            "bf16" => Some(Self::Bf16),
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            _ => None,
        }
    }
}
