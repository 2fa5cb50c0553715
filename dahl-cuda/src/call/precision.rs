//! [`Precision`]: the element types that libraries compute with.

use dahl_element::element::Element;

/// A type of elements, as libraries number them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// `f16`.
    F16,
    /// `bf16`.
    Bf16,
    /// `f32`.
    F32,
    /// `f64`.
    F64,
}

impl Precision {
    /// That of elements of type `T`, if libraries have it.
    pub fn of<T: Element>() -> Option<Self> {
        match T::NAME {
            "f16" => Some(Self::F16),
            "bf16" => Some(Self::Bf16),
            "f32" => Some(Self::F32),
            "f64" => Some(Self::F64),
            _ => None,
        }
    }
}
