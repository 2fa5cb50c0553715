//! [`ArraySpec`]: an array of an instance, as data.

use std::sync::Arc;

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
    /// When it gets its first value.
    pub begins: Begins,
    /// Its first value, if that is not zeros.
    pub initial: Option<Arc<[u8]>>,
}

/// When an array of an instance gets its first value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// Never: a task writes all of it before one reads it, or it is bound.
    Unset,
    /// Before each replay: a task reads it before one has written all of it.
    EachReplay,
    /// When it gets its place: tasks only read it.
    Placed,
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
