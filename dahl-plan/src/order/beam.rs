//! A beam search: the best partial orders of each length.

use std::collections::HashSet;

use super::Found;
use super::graph::{Effect, Graph, Set, State};

/// A partial order.
struct Partial {
    state: State,
    peak: u64,
    ready: Vec<usize>,
    /// The place of its last task in `steps`.
    last: Option<usize>,
}

/// Keeps the `width` partial orders of each length that have the lowest peak, and of these the fewest live bytes. A set of
/// tasks is kept once.
pub(super) fn order(graph: &Graph, width: usize) -> Found {
    let state = graph.start();
    let ready = (0..graph.nodes.len()).filter(|&task| graph.is_ready(&state, task)).collect();
    let mut beam = vec![Partial { state, peak: 0, ready, last: None }];
    // Each task of each partial order, with the place of the one before it.
    let mut steps: Vec<(usize, Option<usize>)> = Vec::new();
    for _ in 0..graph.nodes.len() {
        let mut next: Vec<(u64, u64, usize, usize, Effect)> = Vec::new();
        for (index, partial) in beam.iter().enumerate() {
            for &task in &partial.ready {
                let effect = graph.effect(&partial.state, task);
                next.push((partial.peak.max(effect.during), effect.after, index, task, effect));
            }
        }
        next.sort_unstable_by_key(|&(peak, after, index, task, _)| (peak, after, index, task));
        let mut kept: HashSet<Set> = HashSet::new();
        let mut following = Vec::new();
        for (peak, _, index, task, effect) in next {
            if following.len() == width {
                break;
            }
            let from = &beam[index];
            let state = from.state.after(task, effect);
            if !kept.insert(state.ended.clone()) {
                continue;
            }
            let mut ready: Vec<usize> = from.ready.iter().copied().filter(|&other| other != task).collect();
            let readers = graph.nodes[task].readers.iter().copied();
            ready.extend(readers.filter(|&reader| graph.is_ready(&state, reader)));
            steps.push((task, from.last));
            following.push(Partial { state, peak, ready, last: Some(steps.len() - 1) });
        }
        beam = following;
    }
    let best = beam.first().expect("tasks without a cycle have an order");
    let mut tasks = Vec::new();
    let mut last = best.last;
    while let Some(step) = last {
        tasks.push(steps[step].0);
        last = steps[step].1;
    }
    tasks.reverse();
    Found { tasks, peak: best.peak }
}
