//! Heuristics: good allocations fast, for instances of any size, which the exact search starts from.
//!
//! [`online`] allocates in the order of time. [`greedy`] allocates in other orders, as long as the pairs of buffers that
//! live at one time are few enough.

mod greedy;
mod online;

use super::instance::Instance;

pub(super) use greedy::VISITS;

/// The best allocation that the heuristics find, in units. `visits` are those of a neighbour that they may still make, at
/// first [`VISITS`].
pub(super) fn fit(instance: &Instance, visits: &mut usize) -> Vec<u64> {
    let mut best = online::forward(instance);
    let mut peak = instance.peak(&best);
    let least = instance.lower_bound();
    let mut keep = |offsets: Vec<u64>| {
        if instance.peak(&offsets) < peak {
            peak = instance.peak(&offsets);
            best = offsets;
        }
        peak > least
    };
    if keep(online::backward(instance)) {
        greedy::each(instance, visits, &mut keep);
    }
    best
}
