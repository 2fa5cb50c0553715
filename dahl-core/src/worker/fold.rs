//! The tasks of a reduction: the first contribution of a leaf, folds, and the step into the array.
#![allow(unsafe_code, reason = "changes the buffers of a task that is ready")]

use super::task_error::{TaskError, caught};
use crate::access::AccessMode;
use crate::codelet::Accumulator;
use crate::description::{AccessDesc, TaskDesc};
use crate::device::Requester;
use crate::graph::ArrayState;
use crate::graph::Submitted;
use crate::memory::HOME;

/// The leaf of a contribution. For the first one it has the identity.
///
/// # Errors
/// The failure of an earlier contribution, or a panic of the identity's expression.
///
/// # Safety
/// The task is ready and not completed.
pub(super) unsafe fn leaf(
    buffer: &ArrayState,
    accumulator: &Accumulator,
    access: &AccessDesc,
    node: usize,
    requester: Requester,
) -> Result<*mut u8, TaskError> {
    if !access.begins {
        // SAFETY: the task holds an exclusive access.
        return Ok(unsafe { buffer.prepare_at(node, AccessMode::RW, requester) }?);
    }
    // SAFETY: as above.
    let pointer = unsafe { buffer.begin_leaf(node, requester) }?;
    let bytes = access.layout.len() * accumulator.element().size_bytes;
    // SAFETY: as above; a leaf has at least so many initialised bytes, also if it is the array itself
    // (`ArrayState::is_like`).
    let elements = unsafe { std::slice::from_raw_parts_mut(pointer, bytes) };
    if let Err(error) = caught(|| accumulator.fill_identity(elements)) {
        if node != HOME {
            buffer.unpin(node);
        }
        return Err(error);
    }
    Ok(pointer)
}

/// The requester of the task's buffers.
pub(super) fn requester(task: &TaskDesc) -> Requester {
    let name = task.codelet_if_any().map_or("", |codelet| codelet.name);
    Requester { name, location: task.location() }
}

/// Combines a partial result, the second access, into an earlier one, the first.
pub(super) fn fold(task: &Submitted, accumulator: &Accumulator) -> Result<(), TaskError> {
    let bytes = task.access(0).layout.len() * accumulator.element().size_bytes;
    let [earlier, later] = [(0, AccessMode::RW), (1, AccessMode::R)].map(|(index, mode)| {
        let buffer = task.access(index).state().expect("a fold has two buffers");
        // SAFETY: the task is ready, so it holds its accesses.
        unsafe { buffer.prepare_at(HOME, mode, requester(task.desc())) }.map_err(TaskError::from)
    });
    let (earlier, later) = (earlier?, later?);
    // SAFETY: the access is exclusive, and a leaf has at least so many initialised bytes (`ArrayState::is_like`).
    let earlier = unsafe { std::slice::from_raw_parts_mut(earlier, bytes) };
    // SAFETY: as above, of a shared access, and to another buffer.
    let later = unsafe { std::slice::from_raw_parts(later, bytes) };
    caught(|| accumulator.combine(earlier, later))
}

/// Combines the result of a reduction, the second access, into the array, the first.
pub(super) fn finish(task: &Submitted, accumulator: &Accumulator) -> Result<(), TaskError> {
    let bytes = task.access(0).layout.len() * accumulator.element().size_bytes;
    let [target, total] = [0, 1].map(|index| task.access(index).state().expect("the array and a buffer"));
    // SAFETY: the task is ready, so it holds its accesses.
    let total = unsafe { total.prepare_at(HOME, AccessMode::R, requester(task.desc())) }?;
    // SAFETY: the access is shared, and the buffer a block of at least so many initialised bytes.
    let total = unsafe { std::slice::from_raw_parts(total, bytes) };
    let begins = task.access(0).begins;
    let mut result = Ok(());
    let finish = |target: &mut [u8]| result = caught(|| accumulator.finish(target, total, !begins));
    // SAFETY: the task is ready, and its access to the array is exclusive.
    unsafe { target.finish_reduction(begins, requester(task.desc()), finish) }?;
    result
}
