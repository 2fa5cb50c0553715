//! [`ArraySpec`]: an array of an instance, as data.

use crate::element::ElementType;
use crate::graph::PartOf;

/// An array of an instance.
#[derive(Clone, Debug)]
pub struct ArraySpec {
    /// The type of its elements.
    pub element: ElementType,
    /// Its bytes.
    pub bytes: usize,
    /// Where it is.
    pub place: Place,
    /// For a bound array that is a part of another one: its place there.
    pub part: Option<PartOf>,
    /// Whether a task reads it before one has written all of it: then each replay begins with its first value.
    pub begins: bool,
    /// Its first value, if that is not zeros.
    pub initial: Option<Vec<u8>>,
}

/// Where an array of an instance is.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// An argument, or, after these, an array that the program returns.
    Bound(usize),
    /// So many bytes from the start of the instance's block.
    At(usize),
    /// A part of another array.
    Part(PartOf),
}
