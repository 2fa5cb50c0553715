//! [`Makers`]: which step makes each array, and who reads it.

use crate::graph::{Graph, Task, Use};

/// Who makes and reads each array.
pub(in crate::pass) struct Makers {
    /// The step that writes it, if one does, once.
    producer: Vec<Option<usize>>,
    first: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
}

impl Makers {
    pub(in crate::pass) fn of(graph: &Graph) -> Self {
        let mut readers = vec![Vec::new(); graph.arrays.len()];
        for (step, task) in graph.tasks.iter().enumerate() {
            task.reads().for_each(|array| readers[array].push(step));
        }
        Self { producer: producers(graph), first: first_uses(graph), readers }
    }

    /// The step before `step` that makes an array.
    pub(in crate::pass) fn of_before(&self, array: usize, step: usize) -> Option<usize> {
        self.producer[array].filter(|&made_by| made_by < step)
    }

    /// The steps that read an array, once for each access.
    pub(in crate::pass) fn readers(&self, array: usize) -> &[usize] {
        &self.readers[array]
    }

    /// Whether a step uses whole arrays, its arguments do not vary, and no other step changes its output or has used it
    /// before.
    pub(in crate::pass) fn is_free(&self, graph: &Graph, step: usize) -> bool {
        let task: &Task = &graph.tasks[step];
        let is_whole = |access: &Use| access.array.is_some_and(|array| graph.arrays[array].part.is_none());
        let is_made_here =
            |array: usize| self.producer[array] == Some(step) && self.first[array] == Some(step);
        !task.varies() && task.uses.iter().all(is_whole) && task.writes().all(is_made_here)
    }
}

/// The step that makes each array, if one writes it, once.
fn producers(graph: &Graph) -> Vec<Option<usize>> {
    let mut producer = vec![None; graph.arrays.len()];
    let mut changes = vec![0; graph.arrays.len()];
    for (step, task) in graph.tasks.iter().enumerate() {
        for array in task.writes() {
            changes[array] += 1;
            producer[array] = Some(step);
        }
    }
    producer
        .iter_mut()
        .zip(changes)
        .filter(|(_, changes)| *changes != 1)
        .for_each(|(made_by, _)| *made_by = None);
    producer
}

/// The first step that uses each array.
fn first_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut first = vec![None; graph.arrays.len()];
    for (step, task) in graph.tasks.iter().enumerate() {
        for array in task.uses.iter().filter_map(|access| access.array) {
            first[array].get_or_insert(step);
        }
    }
    first
}
