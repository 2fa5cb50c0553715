//! Removes tasks whose results nobody uses.
//!
//! A task has no effect other than on the arrays that it writes. So it can go if none of these is an argument, a result of
//! the program, or an array that a task which stays reads before it is overwritten. Parts count as their whole array, and
//! are never taken to overwrite it. What may change: a task that goes cannot fail any more.

use dahl_core::__program::StepKind;

use crate::graph::{Graph, Origin, Task};

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let mut needed: Vec<bool> = graph
        .arrays
        .iter()
        .map(|array| matches!(array.origin, Origin::Argument(_) | Origin::Output(_)))
        .collect();
    let has_parts: Vec<bool> = {
        let mut has_parts = vec![false; graph.arrays.len()];
        for array in 0..graph.arrays.len() {
            let root = graph.root(array);
            has_parts[root] |= root != array;
        }
        has_parts
    };
    // A partition that begins must end: if its join would go, the array is needed at the end.
    let lives = loop {
        let lives = living(graph, needed.clone(), &has_parts);
        let ends_open = |(step, task): (usize, &Task)| {
            let root = task.uses.first().and_then(|whole| whole.array).map(|whole| graph.root(whole));
            let is_lost_join = matches!(task.kind, StepKind::Join(_)) && !lives[step];
            root.filter(|&root| {
                is_lost_join
                    && !needed[root]
                    && lives.iter().zip(&graph.tasks).any(|(lives, task)| {
                        *lives
                            && task
                                .uses
                                .iter()
                                .filter_map(|access| access.array)
                                .any(|array| graph.root(array) == root)
                    })
            })
        };
        match graph.tasks.iter().enumerate().find_map(ends_open) {
            Some(root) => needed[root] = true,
            None => break lives,
        }
    };
    let gone = graph.tasks.iter().zip(&lives).filter(|(_, lives)| !**lives);
    let notes =
        gone.map(|(task, _)| format!("{} of {} is not used", task.codelet(), task.location)).collect();
    let mut step = 0;
    graph.tasks.retain(|_| {
        step += 1;
        lives[step - 1]
    });
    notes
}

/// Whether each step stays, if these arrays are needed at the end.
fn living(graph: &Graph, mut needed: Vec<bool>, has_parts: &[bool]) -> Vec<bool> {
    let mut lives = vec![false; graph.tasks.len()];
    for (step, task) in graph.tasks.iter().enumerate().rev() {
        if !task.writes().any(|array| needed[graph.root(array)]) {
            continue;
        }
        lives[step] = true;
        for access in &task.uses {
            let Some(array) = access.array else { continue };
            if access.writes && !access.reads && graph.arrays[array].is_temporary() && !has_parts[array] {
                needed[array] = false;
            }
        }
        task.reads().for_each(|array| needed[graph.root(array)] = true);
    }
    lives
}
