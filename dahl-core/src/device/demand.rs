//! How much of a device's memory a task needs at once.

use crate::description::TaskDesc;
use crate::memory::block_bytes;

/// Bytes of the task's arrays and buffers in a device's memory.
pub(crate) fn demand_bytes(task: &TaskDesc) -> usize {
    let sum = |sum: usize, bytes: usize| sum.saturating_add(block_bytes(bytes));
    let accesses = task.accesses().enumerate().filter(|&(position, _)| is_first(task, position));
    accesses.map(|(position, _)| task.bytes_of(position)).chain(rename_bytes(task)).fold(0, sum)
}

/// Whether no earlier access has the same array or buffer.
fn is_first(task: &TaskDesc, position: usize) -> bool {
    let array = task.access(position).ordered_by();
    array.is_none() || !task.accesses().take(position).any(|before| before.ordered_by() == array)
}

/// The bytes of the output buffer of a kernel that does not run in place.
fn rename_bytes(task: &TaskDesc) -> Option<usize> {
    let call = task.call()?;
    let over = call.over.filter(|_| call.in_place_kernel().is_none())?;
    Some(task.bytes_of(over.position))
}
