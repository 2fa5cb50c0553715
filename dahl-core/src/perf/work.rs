//! [`Work`]: how much a task does; and the [`key`] of all that its duration depends on: the codelet, the kernel, the kind
//! of worker, and the footprint.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use crate::codelet::{Codelet, Operands, ShapeOf};
use crate::footprint::{hash_after, mix};
use crate::task::{Kind, Record};

/// What models call the fold of two partial results of a reduction.
const FOLD: &str = "fold";
/// What models call the step of a reduction into the array.
const FINISH: &str = "finish";

/// The name of the kernel that runs the task, if it has one.
pub(crate) fn kernel_of(record: &Record) -> Option<&'static str> {
    let body = record.body();
    let codelet = body.codelet?;
    match body.kind {
        Kind::Fold(_) => Some(FOLD),
        Kind::Finish(_) => Some(FINISH),
        Kind::Host(_) | Kind::Forget | Kind::Split(_) | Kind::Join(_) => None,
        Kind::Kernel => {
            let in_place = codelet.in_place.as_ref().filter(|_| body.in_place && body.kernel.is_none());
            let in_place = in_place.and_then(|in_place| in_place.kernel.as_ref());
            Some(in_place.or(body.kernel).or(codelet.cpu_kernel())?.name())
        }
    }
}

/// A hash of all that a duration depends on. Two codelets, or names, at different addresses may be the same; those at
/// the same address are.
pub(super) fn key(codelet: &'static Codelet, kernel: &'static str, kind: &str, record: &Record) -> u64 {
    let layouts = record.operands().map(|access| access.body().layout.extents());
    key_of(codelet, kernel, kind, layouts)
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

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Work {
    /// Floating-point operations, if the declaration says.
    pub(super) flops: Option<f64>,
    /// Bytes that it moves: as the declaration says, otherwise those of its arrays.
    pub(super) bytes: f64,
}

impl Work {
    /// What a duration grows with.
    pub(super) fn size(&self) -> f64 {
        self.flops.unwrap_or(self.bytes)
    }
}

/// Floating-point operations of a task, if the declaration says, and the bytes that it moves.
pub(crate) fn work(codelet: &Codelet, record: &Record) -> (Option<f64>, f64) {
    if let Kind::Fold(accumulator) | Kind::Finish(accumulator) = record.body().kind {
        let elements: usize = record.operands().map(|access| access.body().layout.len()).sum();
        return (None, (elements * accumulator.element().size_bytes) as f64);
    }
    let shapes = declared_shapes(codelet, record);
    // The expression is the user's: should it panic, the worker must not.
    let evaluate = |expression: fn(&mut Operands<'_>) -> f64| {
        catch_unwind(AssertUnwindSafe(|| expression(&mut Operands::new(&shapes, &record.body().arguments))))
            .ok()
    };
    let sizes = codelet.parameters.iter().zip(&shapes);
    let moved = sizes.map(|(parameter, shape)| (parameter.element.size_bytes * shape.len()) as f64).sum();
    (codelet.flops.and_then(evaluate), codelet.bytes.and_then(evaluate).unwrap_or(moved))
}

/// The extents of all parameters of the declaration. In place, the output's are the target's.
fn declared_shapes(codelet: &Codelet, record: &Record) -> Vec<ShapeOf> {
    let mut shapes: Vec<ShapeOf> =
        record.operands().map(|access| ShapeOf::new(access.body().layout.extents())).collect();
    if let (true, Some(in_place), Some(output)) =
        (record.body().in_place, &codelet.in_place, codelet.output())
    {
        let target = if in_place.target < output { in_place.target } else { in_place.target - 1 };
        shapes.insert(output, shapes[target]);
    }
    shapes
}
