//! [`StepKind`]: what a step of an instance does, as data.

use std::panic::Location;

use crate::access::AccessMode;
use crate::description::{Action, TaskDesc};
use crate::graph::Flow;
use crate::shape::Layout;

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

impl StepKind {
    /// Fills in the description of a step with `accesses` arrays, which is no branch and no loop.
    pub(super) fn describe(
        &self,
        desc: &mut TaskDesc,
        accesses: usize,
        location: &'static Location<'static>,
    ) {
        let shared = match self {
            Self::Task(task) => {
                desc.clone_from(task);
                return desc.fix_order();
            }
            Self::Split(shared) => {
                desc.begin(Action::Split, location);
                *shared
            }
            Self::Join(shared) => {
                desc.begin(Action::Join, location);
                *shared
            }
            Self::Forget => {
                desc.begin(Action::Forget, location);
                false
            }
            Self::Flow(_) => unreachable!("it has a description of its own"),
        };
        for access in 0..accesses {
            let mode = if access == 0 && shared { AccessMode::R } else { AccessMode::RW };
            desc.push(None, None, mode, |layout: &mut Layout| layout.set_contiguous(&[]));
        }
    }
}
