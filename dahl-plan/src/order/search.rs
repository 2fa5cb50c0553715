//! The exact search: the least peak over all orders, by sets of tasks that have ended.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Found;
use super::graph::{Effect, Graph, Set, State};
use super::task::Order;

/// A set of tasks that have ended, at the end of an order of them.
struct Reached {
    state: State,
    /// The set before the last task, and that task.
    from: Option<(usize, usize)>,
}

/// Looks for an order with a lower peak than that of `found`, in at most `states` sets of tasks.
///
/// The bytes that live after a set of tasks do not depend on their order. So a best order is a path over such sets, on which
/// the largest of the steps is least: Dijkstra's algorithm with maxima in place of sums. Sets are taken by their peak, so
/// that the peak of the set taken is always a lower bound, and the optimum once all tasks have ended.
pub(super) fn improve(graph: &Graph, found: Found, states: usize) -> Order {
    let mut lower_bound = graph.lower_bound();
    let count = graph.nodes.len();
    let mut reached = vec![Reached { state: graph.start(), from: None }];
    let mut best: HashMap<Set, u64> = HashMap::new();
    // By the peak, and then the sets with the most tasks, which are nearest to the end.
    let mut queue = BinaryHeap::from([(Reverse(lower_bound), 0_usize, Reverse(0_usize))]);
    let mut order = found;
    while lower_bound < order.peak {
        let Some((Reverse(peak), length, Reverse(index))) = queue.pop() else {
            // Nothing below the peak of the order is left.
            lower_bound = order.peak;
            break;
        };
        lower_bound = lower_bound.max(peak);
        if length == count {
            order = Found { tasks: path(&reached, index), peak };
            break;
        }
        // A better way to the same set was taken before.
        if best.get(&reached[index].state.ended).is_some_and(|&least| least < peak) {
            continue;
        }
        if reached.len() >= states {
            break;
        }
        let state = reached[index].state.clone();
        let ready = (0..count).filter(|&task| graph.is_ready(&state, task));
        let mut steps: Vec<_> = ready.map(|task| (task, graph.effect(&state, task))).collect();
        // A task that does not raise the peak and leaves no more bytes than there were can run at once: later it would
        // free no less, and until then its inputs stay.
        let is_free = |effect: &Effect| effect.during <= peak && effect.after <= state.live;
        if let Some(&free) = steps.iter().find(|(_, effect)| is_free(effect)) {
            steps = vec![free];
        }
        for (task, effect) in steps {
            let next_peak = peak.max(effect.during);
            let next = state.after(task, effect);
            let least = best.entry(next.ended.clone()).or_insert(u64::MAX);
            if next_peak < order.peak && next_peak < *least {
                *least = next_peak;
                reached.push(Reached { state: next, from: Some((index, task)) });
                queue.push((Reverse(next_peak), length + 1, Reverse(reached.len() - 1)));
            }
        }
    }
    let Found { tasks, peak } = order;
    Order { tasks, peak, lower_bound, optimal: peak == lower_bound }
}

/// The tasks on the way to a set.
fn path(reached: &[Reached], index: usize) -> Vec<usize> {
    let mut tasks = Vec::new();
    let mut from = reached[index].from;
    while let Some((before, task)) = from {
        tasks.push(task);
        from = reached[before].from;
    }
    tasks.reverse();
    tasks
}
