//! Allocation in an order of size, lifetime or area: each buffer goes into a gap that those before it leave.

use super::super::instance::Instance;

/// The most visits of a neighbour in all orders of all parts together: some tenths of a second.
pub(in crate::memory) const VISITS: usize = 20_000_000;

/// Which gap a buffer goes into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    /// The lowest one that is large enough.
    First,
    /// The smallest one that is large enough.
    Best,
}

/// Passes one allocation after the other to `keep`, until that returns false or the visits are used up: in several orders,
/// and then in the best order with the buffers at the peak moved to its front, again and again.
pub(super) fn each(instance: &Instance, visits: &mut usize, keep: &mut dyn FnMut(Vec<u64>) -> bool) {
    let Some(neighbours) = Neighbours::new(instance, *visits / 2) else { return };
    let mut best: Option<(u64, Vec<usize>, Gap)> = None;
    for order in orders(instance) {
        for gap in [Gap::First, Gap::Best] {
            let Some(left) = visits.checked_sub(neighbours.all.len()) else { return };
            *visits = left;
            let offsets = allocate(instance, &neighbours, &order, gap);
            let peak = instance.peak(&offsets);
            if best.as_ref().is_none_or(|(least, ..)| peak < *least) {
                best = Some((peak, order.clone(), gap));
            }
            if !keep(offsets) {
                return;
            }
        }
    }
    let Some((mut least, mut order, gap)) = best else { return };
    // As often as there are buffers: more changes nothing of an order any more.
    for _ in 0..instance.buffers() {
        let Some(left) = visits.checked_sub(neighbours.all.len()) else { return };
        *visits = left;
        let offsets = allocate(instance, &neighbours, &order, gap);
        let peak = instance.peak(&offsets);
        let is_at_peak = |&buffer: &usize| offsets[buffer] + instance.size[buffer] == peak;
        let (mut front, rest): (Vec<usize>, Vec<usize>) = order.iter().copied().partition(is_at_peak);
        front.extend(rest);
        order = front;
        if peak < least {
            least = peak;
            if !keep(offsets) {
                return;
            }
        }
    }
}

fn orders(instance: &Instance) -> [Vec<usize>; 4] {
    let (size, length) = (|buffer: usize| instance.size[buffer], |buffer: usize| instance.length[buffer]);
    let area = |buffer: usize| u128::from(instance.size[buffer]) * u128::from(instance.length[buffer]);
    let load = |buffer: usize| instance.load[instance.span(buffer)].iter().copied().max().unwrap_or(0);
    let by = |key: &dyn Fn(usize) -> (u128, u64)| {
        let mut order: Vec<usize> = (0..instance.buffers()).collect();
        order.sort_by_cached_key(|&buffer| std::cmp::Reverse(key(buffer)));
        order
    };
    [
        by(&|buffer| (u128::from(size(buffer)), length(buffer))),
        by(&|buffer| (area(buffer), size(buffer))),
        by(&|buffer| (u128::from(length(buffer)), size(buffer))),
        by(&|buffer| (u128::from(load(buffer)), size(buffer))),
    ]
}

/// For each buffer those that live at the same time.
#[derive(Debug)]
struct Neighbours {
    all: Vec<u32>,
    starts: Vec<usize>,
}

impl Neighbours {
    /// `None` if there are more pairs than `most`.
    fn new(instance: &Instance, most: usize) -> Option<Self> {
        let mut order: Vec<usize> = (0..instance.buffers()).collect();
        order.sort_by_key(|&buffer| instance.first[buffer]);
        let mut live: Vec<u32> = Vec::new();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for buffer in order {
            live.retain(|&other| instance.last[other as usize] > instance.first[buffer]);
            if pairs.len() + live.len() > most {
                return None;
            }
            pairs.extend(live.iter().map(|&other| (other, buffer as u32)));
            live.push(buffer as u32);
        }
        let mut starts = vec![0; instance.buffers() + 1];
        for &(a, b) in &pairs {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        for buffer in 0..instance.buffers() {
            starts[buffer + 1] += starts[buffer];
        }
        let mut next = starts.clone();
        let mut all = vec![0; 2 * pairs.len()];
        for (a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                all[next[from as usize]] = to;
                next[from as usize] += 1;
            }
        }
        Some(Self { all, starts })
    }

    fn of(&self, buffer: usize) -> &[u32] {
        &self.all[self.starts[buffer]..self.starts[buffer + 1]]
    }
}

fn allocate(instance: &Instance, neighbours: &Neighbours, order: &[usize], gap: Gap) -> Vec<u64> {
    /// The offset of a buffer that has none yet.
    const NONE: u64 = u64::MAX;
    let mut offsets = vec![NONE; instance.buffers()];
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for &buffer in order {
        taken.clear();
        for &other in neighbours.of(buffer) {
            let offset = offsets[other as usize];
            if offset != NONE {
                taken.push((offset, offset + instance.size[other as usize]));
            }
        }
        taken.sort_unstable();
        let size = instance.size[buffer];
        let (mut top, mut best) = (0, None);
        for &(begin, end) in &taken {
            if begin >= top + size && best.is_none_or(|(room, _)| begin - top < room) {
                best = Some((begin - top, top));
                if gap == Gap::First {
                    break;
                }
            }
            top = top.max(end);
        }
        offsets[buffer] = best.map_or(top, |(_, offset)| offset);
    }
    offsets
}
