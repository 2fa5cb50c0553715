//! A heuristic in one pass: a task's inputs one after the other, each with all that it needs.

use std::cmp::Reverse;

use super::graph::Graph;

/// The order in which a depth-first walk from the tasks without readers leaves the tasks. Of the inputs of a task that one
/// comes first whose peak exceeds its output most, which is best if the graph is a tree (Liu, "On the Storage Requirement in
/// the Out-of-Core Multifrontal Method for Sparse Factorization", 1986).
pub(super) fn order(graph: &Graph) -> Vec<usize> {
    let count = graph.nodes.len();
    let mut peaks = vec![0_u64; count];
    let mut inputs: Vec<Vec<usize>> = graph.nodes.iter().map(|node| node.reads.clone()).collect();
    for task in graph.topological() {
        let rest = |&input: &usize| (Reverse(peaks[input].saturating_sub(graph.nodes[input].output)), input);
        inputs[task].sort_by_key(rest);
        let (mut held, mut peak) = (0_u64, 0_u64);
        for &input in &inputs[task] {
            // In a graph that is no tree such a sum counts tasks more than once, and may exceed all numbers.
            peak = peak.max(held.saturating_add(peaks[input]));
            held = held.saturating_add(graph.nodes[input].output);
        }
        peaks[task] = peak.max(held.saturating_add(graph.nodes[task].while_running()));
    }
    let mut roots: Vec<usize> = (0..count).filter(|&task| graph.nodes[task].readers.is_empty()).collect();
    roots.sort_by_key(|&root| (Reverse(peaks[root].saturating_sub(graph.nodes[root].output)), root));
    let mut order = Vec::with_capacity(count);
    let mut is_met = vec![false; count];
    for root in roots {
        let mut stack = vec![(root, 0)];
        is_met[root] = true;
        while let Some((task, next)) = stack.pop() {
            match inputs[task].get(next) {
                Some(&input) => {
                    stack.push((task, next + 1));
                    if !std::mem::replace(&mut is_met[input], true) {
                        stack.push((input, 0));
                    }
                }
                None => order.push(task),
            }
        }
    }
    order
}
