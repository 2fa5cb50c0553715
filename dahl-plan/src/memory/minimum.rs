//! The least capacity at which a search succeeds.

use super::instance::Instance;
use super::search::{Outcome, Search};

/// An allocation in units, and what is proven of it.
#[derive(Clone, Debug)]
pub(super) struct Minimum {
    pub(super) offsets: Vec<u64>,
    /// Units that every allocation needs.
    pub(super) lower_bound: u64,
    /// The steps that were taken.
    pub(super) steps: u64,
}

/// Looks for an allocation with a lower peak than that of `offsets`, and for a higher lower bound, until they meet or the
/// peak is not above `enough`.
///
/// It tries the lower bound or `enough` first, which is mostly the answer, and then capacities between the bounds by bisection. A search
/// that has not ended after its steps leaves its capacity unknown: then capacities above it are tried, and those below it.
/// After each such round a search may take four times as many steps.
pub(super) fn minimise(
    instance: &Instance,
    offsets: Vec<u64>,
    enough: u64,
    steps: u64,
    stop: &mut dyn FnMut() -> bool,
) -> Minimum {
    let mut best = Minimum { offsets, lower_bound: instance.lower_bound(), steps: 0 };
    let mut high = instance.peak(&best.offsets);
    let mut most = 64 * (instance.buffers() as u64).pow(2) + instance.memberships();
    while best.lower_bound.max(enough) < high {
        let mut probe = Some(best.lower_bound.max(enough));
        // Capacities between the least and the most one whose search has not ended.
        let mut unknown: Option<(u64, u64)> = None;
        while let Some(capacity) = probe {
            let left = steps.saturating_sub(best.steps);
            // The search itself takes room and time for all of these.
            if left <= instance.memberships() || stop() {
                return best;
            }
            let mut search = Search::new(instance, capacity);
            let outcome = search.run(most.min(left), stop);
            best.steps += search.steps() + instance.memberships();
            match outcome {
                Outcome::Found(offsets) => {
                    high = instance.peak(&offsets);
                    best.offsets = offsets;
                }
                Outcome::Infeasible => best.lower_bound = capacity + 1,
                Outcome::OutOfSteps => {
                    let (least, most) = unknown.unwrap_or((capacity, capacity));
                    unknown = Some((least.min(capacity), most.max(capacity)));
                }
            }
            let low = best.lower_bound.max(enough);
            unknown = unknown.map(|(least, most)| (least.max(low), most.min(high.saturating_sub(1))));
            unknown = unknown.filter(|(least, most)| least <= most);
            probe = next_probe(low, high, unknown);
        }
        most = most.saturating_mul(4);
    }
    best
}

/// The capacity to be tried next, from `low` and below `high`: above what is unknown, or else below it.
fn next_probe(low: u64, high: u64, unknown: Option<(u64, u64)>) -> Option<u64> {
    let middle = |from: u64, to: u64| (from < to).then(|| from + (to - from) / 2);
    match unknown {
        None => middle(low, high),
        Some((least, most)) => middle(most + 1, high).or_else(|| middle(low, least)),
    }
}
