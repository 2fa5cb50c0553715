//! [`Work`]: the amount of work of a task; and the [`key`] of everything that its duration depends on: the codelet, the
//! kernel, the kind of worker, and the footprint.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::codelet::{Codelet, FusedPart, PartOperand, ShapeOf, WorkInputs};
use crate::description::{Action, Combination, Step, TaskDesc};
use crate::footprint::{hash_after, mix};
use crate::machine::PartWork;

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
    let sizes = codelet.parameters.iter().zip(&shapes);
    let moved = sizes.map(|(parameter, shape)| (parameter.element.size_bytes * shape.len()) as f64).sum();
    let (flops, bytes) = declared(codelet, &shapes, task.arguments());
    let of_parts = || parts(task)?.iter().map(|part| part.flops).sum();
    (flops.or_else(of_parts), bytes.unwrap_or(moved))
}

/// The floating-point operations and bytes of a task of these shapes, as far as they are declared.
fn declared(codelet: &Codelet, shapes: &[ShapeOf], arguments: &[u8]) -> (Option<f64>, Option<f64>) {
    // The expression is the user's: its panic must not end the worker.
    let evaluate = |expression: fn(&mut WorkInputs<'_>) -> f64| {
        catch_unwind(AssertUnwindSafe(|| expression(&mut WorkInputs::new(shapes, arguments)))).ok()
    };
    (codelet.flops.and_then(evaluate), codelet.bytes.and_then(evaluate))
}

/// The work of each part of a fused task; none of another one.
pub(crate) fn parts(task: &TaskDesc) -> Option<Vec<PartWork>> {
    let Action::Kernel(call) = task.action() else { return None };
    let given: Vec<&[usize]> = task.extents().collect();
    let part = |part: FusedPart| {
        let of_arrays: f64 = part.operands.iter().map(PartOperand::bytes).sum();
        let exchanged = part.operands.iter().filter(|operand| operand.is_exchanged);
        let exchanged: f64 = exchanged.map(PartOperand::bytes).sum();
        let shapes: Vec<_> = part.operands.iter().map(|operand| ShapeOf::new(&operand.extents)).collect();
        let arguments = task.arguments().get(part.arguments.clone()).unwrap_or_default();
        let (flops, bytes) =
            if part.finishes { (None, None) } else { declared(part.codelet, &shapes, arguments) };
        let bytes = bytes.unwrap_or(of_arrays);
        PartWork {
            codelet: if part.finishes { FINISH } else { part.codelet.name },
            footprint: part.operands.into_iter().map(|operand| operand.extents).collect(),
            flops,
            bytes,
            exchanged: if of_arrays > 0.0 { bytes * exchanged / of_arrays } else { 0.0 },
        }
    };
    Some(call.codelet.parts(&given)?.into_iter().map(part).collect())
}
