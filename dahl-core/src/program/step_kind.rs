//! [`StepKind`]: what a step of an instance does, as data.

use crate::description::TaskDesc;
use crate::graph::Flow;

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
