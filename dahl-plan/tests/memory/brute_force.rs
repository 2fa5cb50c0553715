//! The least peak of few buffers, by all orders.

use dahl_plan::memory::Buffer;

use super::checker::load;

/// The least peak: of all orders in which each buffer is put on top of those before it that live at the same time. In an
/// allocation of least peak in which no buffer can be lowered, the order of the offsets is such an order.
pub(crate) fn least_peak(buffers: &[Buffer]) -> u64 {
    let mut best = u64::MAX;
    let mut placed = Vec::new();
    place(buffers, &mut placed, 0, load(buffers), &mut best);
    best
}

fn place(buffers: &[Buffer], placed: &mut Vec<(usize, u64)>, peak: u64, least: u64, best: &mut u64) {
    // Nothing is better than `least`.
    if peak >= *best || *best == least {
        return;
    }
    if placed.len() == buffers.len() {
        *best = peak;
        return;
    }
    for (index, buffer) in buffers.iter().enumerate() {
        if placed.iter().any(|&(other, _)| other == index) {
            continue;
        }
        let below = placed.iter().filter(|&&(other, _)| buffers[other].overlaps(buffer));
        let offset = below.map(|&(other, offset)| offset + buffers[other].size).max().unwrap_or(0);
        // Only in the order of offsets, and of indices where these are equal.
        if placed.last().is_none_or(|&(last, at)| (at, last) < (offset, index)) {
            placed.push((index, offset));
            place(buffers, placed, peak.max(offset + buffer.size), least, best);
            placed.pop();
        }
    }
}

#[test]
fn it_finds_what_is_known() {
    let buffer = |id, lower, upper, size| Buffer { id, lower, upper, size };
    assert_eq!(least_peak(&[]), 0);
    assert_eq!(least_peak(&[buffer(0, 0, 2, 2), buffer(1, 1, 3, 1), buffer(2, 2, 4, 2)]), 3);
    for (buffers, optimum) in super::instances::above_the_load() {
        assert_eq!(least_peak(&buffers), optimum);
    }
}
