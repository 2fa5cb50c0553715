//! [`Plan`]: an allocation of all parts, which is improved part by part.

use super::fit;
use super::instance::Instance;
use super::minimum::minimise;
use super::parts::{Part, Parts};
use super::search::{Outcome, Search};

/// An allocation of each part.
#[derive(Debug)]
pub(super) struct Plan {
    parts: Vec<Part>,
    /// The offsets of each part, above its base.
    found: Vec<Vec<u64>>,
    /// The offsets of the buffers that are in no part.
    offsets: Vec<u64>,
}

impl Plan {
    /// The allocation by the heuristics.
    pub(super) fn new(instance: &Instance) -> Self {
        let Parts { parts, offsets } = Parts::new(instance);
        let mut visits = fit::VISITS;
        let found = parts.iter().map(|part| fit::fit(&part.instance, &mut visits)).collect();
        Self { parts, found, offsets }
    }

    /// The offsets of all buffers.
    pub(super) fn offsets(&self) -> Vec<u64> {
        let mut offsets = self.offsets.clone();
        for (part, found) in self.parts.iter().zip(&self.found) {
            part.buffers.iter().zip(found).for_each(|(&buffer, offset)| offsets[buffer] = part.base + offset);
        }
        offsets
    }

    /// Looks for the least peak, above the known bound `load`. Returns offsets, and what every allocation needs. Each part gets
    /// an equal share of the steps that are left, and is solved as well as the worst one before it.
    pub(super) fn minimise(
        mut self,
        load: u64,
        steps: u64,
        stop: &mut dyn FnMut() -> bool,
    ) -> (Vec<u64>, u64) {
        let (mut lower_bound, mut enough, mut left) = (load, load, steps);
        let count = self.parts.len() as u64;
        for ((part, offsets), index) in self.parts.iter().zip(&mut self.found).zip(0..) {
            let share = left / (count - index);
            let found = minimise(
                &part.instance,
                std::mem::take(offsets),
                enough.saturating_sub(part.base),
                share,
                stop,
            );
            left = left.saturating_sub(found.steps);
            lower_bound = lower_bound.max(part.base + found.lower_bound);
            enough = enough.max(part.base + part.instance.peak(&found.offsets));
            *offsets = found.offsets;
        }
        (self.offsets(), lower_bound)
    }

    /// Looks for offsets below `capacity`, which is no less than the load. Returns whether there are any, if that was found
    /// out.
    pub(super) fn search(
        &mut self,
        capacity: u64,
        steps: u64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<bool> {
        let (mut is_decided, mut left) = (true, steps);
        let count = self.parts.len() as u64;
        for ((part, offsets), index) in self.parts.iter().zip(&mut self.found).zip(0..) {
            let capacity = capacity - part.base;
            if part.instance.peak(offsets) <= capacity {
                continue;
            }
            let share = left / (count - index);
            // Preparing a search takes room and time for all of these.
            if share <= part.instance.memberships() {
                is_decided = false;
                continue;
            }
            let mut search = Search::new(&part.instance, capacity);
            match search.run(share, stop) {
                Outcome::Found(found) => *offsets = found,
                Outcome::Infeasible => return Some(false),
                Outcome::OutOfSteps => is_decided = false,
            }
            left = left.saturating_sub(search.steps());
        }
        is_decided.then_some(true)
    }
}
