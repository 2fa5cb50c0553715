//! The gates of a row of a recurrent cell, which are computed side by side.

use dahl_core::{Element, Real};

/// Elements of a row that are computed side by side. They are in arrays of this length, which overlap no other array, so the loops
/// over them become vector instructions. Each elementary function has a loop of its own: the numbers that several of them need at a
/// time exceed the registers.
pub(crate) const LANES: usize = 16;

/// The elements of a row from `start` on, at most [`LANES`], and zeros after them.
#[inline(always)]
pub(crate) fn load<T: Real>(row: &[T], start: usize) -> [T::Compute; LANES] {
    let rest = &row[start..];
    let mut lanes = [T::Compute::ZERO; LANES];
    // Loops, not closures: those of `map` and the like are not always inlined, and then compiled without vectors.
    if let Some(rest) = rest.first_chunk::<LANES>() {
        for (lane, value) in lanes.iter_mut().zip(rest) {
            *lane = value.widen();
        }
    } else {
        for (lane, value) in lanes.iter_mut().zip(rest) {
            *lane = value.widen();
        }
    }
    lanes
}

/// [`load`] of several rows.
#[inline(always)]
pub(crate) fn load_each<T: Real, const N: usize>(rows: [&[T]; N], start: usize) -> [[T::Compute; LANES]; N] {
    let mut all = [[T::Compute::ZERO; LANES]; N];
    for (lanes, row) in all.iter_mut().zip(rows) {
        *lanes = load(row, start);
    }
    all
}

/// Writes what [`load`] would read.
#[inline(always)]
pub(crate) fn store<T: Real>(lanes: [T::Compute; LANES], row: &mut [T], start: usize) {
    let rest = &mut row[start..];
    if let Some(rest) = rest.first_chunk_mut::<LANES>() {
        for (value, lane) in rest.iter_mut().zip(lanes) {
            *value = T::narrow(lane);
        }
    } else {
        for (value, lane) in rest.iter_mut().zip(lanes) {
            *value = T::narrow(lane);
        }
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

/// `1 / (1 + exp(-x))` of each lane.
#[inline(always)]
pub(crate) fn logistic<C: Real>(mut lanes: [C; LANES]) -> [C; LANES] {
    for lane in &mut lanes {
        *lane = C::ONE / (C::ONE + (-*lane).exp());
    }
    lanes
}

/// The hyperbolic tangent of each lane.
#[inline(always)]
pub(crate) fn tanh<C: Real>(mut lanes: [C; LANES]) -> [C; LANES] {
    for lane in &mut lanes {
        *lane = lane.tanh();
    }
    lanes
}

/// Whether `gates` has `count` times the columns of `state`.
pub(crate) fn has_gates(gates: [usize; 2], state: [usize; 2], count: usize) -> bool {
    gates[0] == state[0] && state[1].checked_mul(count) == Some(gates[1])
}
