//! What must hold of an allocation, in plain loops that share no code with the algorithms.

use dahl_plan::memory::{Allocation, Buffer};

/// Requires that no two buffers share a byte at a time, and that the figures are those of the offsets.
pub(crate) fn check(buffers: &[Buffer], plan: &Allocation, alignment: u64) {
    assert_eq!(buffers.len(), plan.offsets.len());
    let end = |index: usize| plan.offsets[index] + buffers[index].size.next_multiple_of(alignment);
    for (i, a) in buffers.iter().enumerate() {
        assert_eq!(plan.offsets[i] % alignment, 0, "{a:?} at {}", plan.offsets[i]);
        for (j, b) in buffers.iter().enumerate().skip(i + 1) {
            let is_apart_in_time = a.upper <= b.lower || b.upper <= a.lower;
            let is_apart_in_space = end(i) <= plan.offsets[j] || end(j) <= plan.offsets[i];
            let is_empty = a.size == 0 || b.size == 0;
            assert!(
                is_apart_in_time || is_apart_in_space || is_empty,
                "{a:?} at {} and {b:?} at {}",
                plan.offsets[i],
                plan.offsets[j]
            );
        }
    }
    assert_eq!(plan.peak, (0..buffers.len()).map(end).max().unwrap_or(0));
    assert!(plan.lower_bound <= plan.peak, "{} and {}", plan.lower_bound, plan.peak);
    assert_eq!(plan.optimal, plan.lower_bound == plan.peak);
}

/// The most bytes that live at one time, with sizes as they are.
pub(crate) fn load(buffers: &[Buffer]) -> u64 {
    let at = |time: i64| {
        let live = buffers.iter().filter(|buffer| buffer.lower <= time && time < buffer.upper);
        live.map(|buffer| buffer.size).sum()
    };
    buffers.iter().map(|buffer| at(buffer.lower)).max().unwrap_or(0)
}
