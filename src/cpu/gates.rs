//! The gates of a row of a recurrent cell, which are computed side by side.

use dahl_core::{Element, Real};

/// Elements of a row that are computed side by side. They are in arrays of this length, which overlap no other array, so the loops
/// over them become vector instructions.
pub(crate) const LANES: usize = 32;

/// The elements of a row from `start` on, at most [`LANES`], and zeros after them.
#[inline(always)]
pub(crate) fn load<T: Real>(row: &[T], start: usize) -> [T::Compute; LANES] {
    let rest = &row[start..];
    let mut lanes = [T::Compute::ZERO; LANES];
    match rest.first_chunk::<LANES>() {
        Some(rest) => lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = value.widen()),
        None => lanes.iter_mut().zip(rest).for_each(|(lane, value)| *lane = value.widen()),
    }
    lanes
}

/// Writes what [`load`] would read.
#[inline(always)]
pub(crate) fn store<T: Real>(lanes: [T::Compute; LANES], row: &mut [T], start: usize) {
    let rest = &mut row[start..];
    match rest.first_chunk_mut::<LANES>() {
        Some(rest) => rest.iter_mut().zip(lanes).for_each(|(value, lane)| *value = T::narrow(lane)),
        None => rest.iter_mut().zip(lanes).for_each(|(value, lane)| *value = T::narrow(lane)),
    }
}

/// The gates of a row, each `width` elements.
#[inline(always)]
pub(crate) fn gates_of<T, const N: usize>(row: &[T], width: usize) -> [&[T]; N] {
    std::array::from_fn(|gate| &row[gate * width..][..width])
}

/// The gates of a row, each `width` elements, to be written.
#[inline(always)]
pub(crate) fn gates_of_mut<T, const N: usize>(row: &mut [T], width: usize) -> [&mut [T]; N] {
    let mut gates = row.chunks_exact_mut(width);
    std::array::from_fn(|_| gates.next().expect("a row has all gates"))
}

/// `1 / (1 + exp(-x))`.
#[inline(always)]
pub(crate) fn logistic<C: Real>(x: C) -> C {
    C::ONE / (C::ONE + (-x).exp())
}

/// Whether `gates` has `count` times the columns of `state`.
pub(crate) fn has_gates(gates: [usize; 2], state: [usize; 2], count: usize) -> bool {
    gates[0] == state[0] && state[1].checked_mul(count) == Some(gates[1])
}
