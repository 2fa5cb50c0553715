//! [`Step`] and [`ArraySpec`]: what an instance is made of, as data.

use std::panic::Location;
use std::sync::Arc;

use super::instance::Instance;
use super::varying::Varying;
use crate::description::TaskDesc;
use crate::element::ElementType;
use crate::graph::{Flow, PartOf};

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

/// A step of an instance.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// The arrays, by number: of each access; or the whole array, and its parts.
    pub arrays: Vec<Option<usize>>,
    /// The steps that come after it, by number.
    pub after: Vec<u32>,
    /// The plain arguments that each call sets.
    pub varying: Vec<Varying>,
    /// For a branch or a loop: its bodies. The arrays with which they are called are those of the step, in order.
    pub bodies: Vec<Arc<Instance>>,
    /// The line that submitted it.
    pub location: &'static Location<'static>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// A worker runs a task.
    Task(Box<TaskDesc>),
    /// Parts get the value of their whole array. They are only read if this is true.
    Split(bool),
    /// An array gets the value of its parts, unless they are only read.
    Join(bool),
    /// An array's value is discarded.
    Forget,
    /// A body runs, or several times. The first array is the condition.
    Flow(Flow),
}
