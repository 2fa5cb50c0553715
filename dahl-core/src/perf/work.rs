//! [`Work`]: the amount of work of a task; and the [`key`] of everything that its duration depends on: the codelet, the
//! kernel, the kind of worker, and the footprint.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::codelet::{Codelet, WorkInputs};
use crate::description::{Action, Combination, Step, TaskDesc};
use crate::footprint::{hash_after, mix};

/// The name in models of the fold of two partial results of a reduction.
const FOLD: &str = "fold";
/// The name in models of the last step of a reduction, into the array.
const FINISH: &str = "finish";

/// The name of the kernel that runs the task, if it has one.
pub(crate) fn kernel_of(task: &TaskDesc) -> Option<&'static str> {
    match task.action() {
        Action::Combine(Combination { step: Step::Fold, .. }) => Some(FOLD),
        Action::Combine(Combination { step: Step::Finish(_), .. }) => Some(FINISH),
        Action::Kernel(call) => {
            Some(call.in_place_kernel().or(call.kernel).or(call.codelet.cpu_kernel())?.name())
        }
        Action::Program(_)
        | Action::External(_)
        | Action::Wait
        | Action::Forget
        | Action::Split
        | Action::Join => None,
    }
}

/// A hash of all that a duration depends on. Two codelets, or names, at different addresses may be the same; at the
/// same address they are.
pub(super) fn key(codelet: &'static Codelet, kernel: &'static str, kind: &str, task: &TaskDesc) -> u64 {
    key_of(codelet, kernel, kind, task.extents())
}

/// As [`key`], for a footprint.
pub(super) fn key_of<'f>(
    codelet: &'static Codelet,
    kernel: &'static str,
    kind: &str,
    footprint: impl Iterator<Item = &'f [usize]>,
) -> u64 {
    let mut hash = mix(ptr::from_ref(codelet).addr() as u64, kernel.as_ptr().addr() as u64);
    hash = mix(hash, kernel.len() as u64);
    for bytes in kind.as_bytes().chunks(8) {
        hash = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)) ^ hash.rotate_left(29);
    }
    mix(hash_after(hash, footprint), 0)
}

/// The work of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Floating-point operations, if declared.
    pub(super) flops: Option<f64>,
    /// Bytes that it moves: as declared, otherwise those of its arrays.
    pub(super) bytes: f64,
}

impl Work {
    /// The size that durations grow with.
    pub(super) fn size(&self) -> f64 {
        self.flops.unwrap_or(self.bytes)
    }
}

/// Floating-point operations of a task, if declared, and the bytes that it moves.
pub fn work(task: &TaskDesc) -> (Option<f64>, f64) {
    if let Some(combination) = task.combination() {
        let elements: usize = task.operand_accesses().map(|access| access.layout.len()).sum();
        return (None, (elements * combination.accumulator.element().size_bytes) as f64);
    }
    let (codelet, shapes) = (task.codelet(), task.declared_shapes());
    // The expression is the user's: its panic must not end the worker.
    let evaluate = |expression: fn(&mut WorkInputs<'_>) -> f64| {
        catch_unwind(AssertUnwindSafe(|| expression(&mut WorkInputs::new(&shapes, task.arguments())))).ok()
    };
    let sizes = codelet.parameters.iter().zip(&shapes);
    let moved = sizes.map(|(parameter, shape)| (parameter.element.size_bytes * shape.len()) as f64).sum();
    (codelet.flops.and_then(evaluate), codelet.bytes.and_then(evaluate).unwrap_or(moved))
}
