//! [`Step`]: a step of an instance, as data.

use std::panic::Location;
use std::sync::Arc;

use super::instance::Instance;
use super::step_kind::StepKind;
use super::varying::Varying;

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
