//! [`Parts`]: an instance taken apart into instances that can be solved each for itself.

use super::instance::Instance;

/// An instance whose buffers lie above `base`.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) instance: Instance,
    /// The buffers of the whole instance, in the order of this one.
    pub(super) buffers: Vec<usize>,
    pub(super) base: u64,
}

/// The parts of an instance.
///
/// Buffers that have no time in common, directly or by others between them, are in different parts. A buffer that lives as
/// long as its whole part (the parameters of a network) may lie at the bottom of it: in any allocation it divides the others
/// into those below and those above it, and those below can change places with it. Without it the rest may fall apart again.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    /// The offsets of the buffers at the bottom of parts.
    pub(super) offsets: Vec<u64>,
}

/// How many buffers are looked at in all. Then what is left is not taken apart further, and is solved as it is.
const LOOKS: usize = 10_000_000;

impl Parts {
    pub(super) fn new(instance: &Instance) -> Self {
        let mut all = Self { parts: Vec::new(), offsets: vec![0; instance.buffers()] };
        let mut looks = LOOKS;
        let whole = Part { instance: instance.clone(), buffers: (0..instance.buffers()).collect(), base: 0 };
        let mut left = vec![whole];
        while let Some(part) = left.pop() {
            looks = looks.saturating_sub(part.buffers.len());
            for mut members in components(&part.instance) {
                let span = |&buffer: &usize| part.instance.span(buffer);
                let start = members.iter().map(|buffer| span(buffer).start).min();
                let end = members.iter().map(|buffer| span(buffer).end).max();
                let count = members.len();
                let mut base = part.base;
                members.retain(|buffer| {
                    let is_whole = Some(span(buffer).start) == start && Some(span(buffer).end) == end;
                    if is_whole {
                        all.offsets[part.buffers[*buffer]] = base;
                        base += part.instance.size[*buffer];
                    }
                    !is_whole
                });
                if members.is_empty() {
                    continue;
                }
                let is_apart = members.len() == count || looks == 0;
                let buffers = members.iter().map(|&buffer| part.buffers[buffer]).collect();
                let part = Part { instance: part.instance.restricted(&members), buffers, base };
                if is_apart { all.parts.push(part) } else { left.push(part) }
            }
        }
        // The most loaded ones first.
        all.parts.sort_by_key(|part| std::cmp::Reverse(part.lower_bound()));
        all
    }
}

impl Part {
    /// The units below which the part cannot end, from the bottom of the block.
    pub(super) fn lower_bound(&self) -> u64 {
        self.base + self.instance.lower_bound()
    }
}

/// The buffers of each connected component, in the order of time.
fn components(instance: &Instance) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..instance.buffers()).collect();
    order.sort_by_key(|&buffer| instance.first[buffer]);
    let mut components: Vec<Vec<usize>> = Vec::new();
    let mut end = 0;
    for buffer in order {
        match components.last_mut() {
            Some(component) if instance.first[buffer] < end => component.push(buffer),
            _ => components.push(vec![buffer]),
        }
        end = end.max(instance.last[buffer]);
    }
    // The order of the buffers decides between those that are equal otherwise.
    components.iter_mut().for_each(|component| component.sort_unstable());
    components
}
