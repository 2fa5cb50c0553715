//! What a task needs of a device's memory, all at once.

use std::ptr;

use crate::memory::block_bytes;
use crate::task::{Access, Record};

/// Bytes of the task's arrays and buffers in a device's memory.
pub(crate) fn demand_bytes(record: &Record) -> usize {
    let sum = |sum: usize, bytes: usize| sum.saturating_add(block_bytes(bytes));
    let arrays = distinct_arrays(record).map(|array| array.bytes());
    arrays.chain(scratch_bytes(record)).chain(rename_bytes(record)).fold(0, sum)
}

fn distinct_arrays(record: &Record) -> impl Iterator<Item = &crate::array::ArrayState> {
    let arrays = move |count: usize| record.accesses().take(count).filter_map(Access::array);
    record.accesses().enumerate().filter_map(move |(place, access)| {
        let array = access.array()?;
        let is_first = !arrays(place).any(|before| ptr::eq(before, array));
        is_first.then_some(array)
    })
}

fn scratch_bytes(record: &Record) -> impl Iterator<Item = usize> {
    let body = record.body();
    let parameters = body.codelet.map_or(&[][..], |codelet| codelet.parameters);
    let output = body.codelet.filter(|_| body.in_place).and_then(|codelet| codelet.output());
    let parameters = parameters.iter().enumerate().filter(move |&(index, _)| Some(index) != output);
    parameters
        .zip(record.accesses())
        .filter(|(_, access)| access.array().is_none())
        .map(|((_, parameter), access)| access.body().layout.len() * parameter.element.size_bytes)
}

/// The buffer that a kernel writes to which does not run in place.
fn rename_bytes(record: &Record) -> Option<usize> {
    let body = record.body();
    let codelet = body.codelet.filter(|_| body.in_place)?;
    let in_place = codelet.in_place.as_ref()?;
    if in_place.kernel.is_some() && body.kernel.is_none() {
        return None;
    }
    let position = in_place.target - usize::from(codelet.output()? < in_place.target);
    record.accesses().nth(position)?.array().map(|array| array.bytes())
}
