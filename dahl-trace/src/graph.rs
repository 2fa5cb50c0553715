//! The dependencies of tasks, by index in [`Trace::tasks`](crate::Trace::tasks).
//!
//! Edges to tasks without a line in the file (it was cut short, or they were cancelled before they ran) are left out.

use crate::trace::Task;
use std::collections::HashMap;

/// The edges of the task graph, both ways.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    predecessors: Rows,
    successors: Rows,
    order: Vec<u32>,
}

/// A list of indices for each task, in one allocation.
#[derive(Clone, Debug, Default, PartialEq)]
struct Rows {
    starts: Vec<usize>,
    items: Vec<u32>,
}

impl Rows {
    fn row(&self, index: usize) -> &[u32] {
        &self.items[self.starts[index]..self.starts[index + 1]]
    }
}

impl Graph {
    /// The graph of `tasks`, or the index of a task in a cycle.
    pub(crate) fn of(tasks: &[Task]) -> Result<Self, usize> {
        let predecessors = predecessors(tasks);
        let successors = reversed(&predecessors, tasks.len());
        let order = order(&predecessors, &successors, tasks.len())?;
        Ok(Self { predecessors, successors, order })
    }

    /// The tasks that the one at `index` directly depends on.
    pub fn predecessors(&self, index: usize) -> &[u32] {
        self.predecessors.row(index)
    }

    /// The tasks that directly depend on the one at `index`.
    pub fn successors(&self, index: usize) -> &[u32] {
        self.successors.row(index)
    }

    /// The number of edges to tasks before the one at `index`.
    pub(crate) fn edges_before(&self, index: usize) -> usize {
        self.predecessors.starts[index]
    }

    /// How many edges there are.
    pub fn edges(&self) -> usize {
        self.predecessors.items.len()
    }

    /// All tasks, each after those that it depends on.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}

fn predecessors(tasks: &[Task]) -> Rows {
    let index: HashMap<u64, u32> =
        tasks.iter().enumerate().map(|(index, task)| (task.number, index as u32)).collect();
    let mut rows = Rows { starts: Vec::with_capacity(tasks.len() + 1), items: Vec::new() };
    rows.starts.push(0);
    for task in tasks {
        rows.items.extend(task.after.iter().filter_map(|number| index.get(number)));
        rows.starts.push(rows.items.len());
    }
    rows
}

fn reversed(rows: &Rows, count: usize) -> Rows {
    let mut starts = vec![0; count + 1];
    for &item in &rows.items {
        starts[item as usize + 1] += 1;
    }
    for index in 0..count {
        starts[index + 1] += starts[index];
    }
    let mut next = starts.clone();
    let mut items = vec![0; rows.items.len()];
    for index in 0..count {
        for &item in rows.row(index) {
            items[next[item as usize]] = index as u32;
            next[item as usize] += 1;
        }
    }
    Rows { starts, items }
}

/// A topological order by Kahn's algorithm.
fn order(predecessors: &Rows, successors: &Rows, count: usize) -> Result<Vec<u32>, usize> {
    let mut waiting: Vec<usize> = (0..count).map(|index| predecessors.row(index).len()).collect();
    let mut order: Vec<u32> = (0..count as u32).filter(|&index| waiting[index as usize] == 0).collect();
    let mut done = 0;
    while done < order.len() {
        for &successor in successors.row(order[done] as usize) {
            waiting[successor as usize] -= 1;
            if waiting[successor as usize] == 0 {
                order.push(successor);
            }
        }
        done += 1;
    }
    match waiting.iter().position(|&left| left > 0) {
        Some(index) => Err(index),
        None => Ok(order),
    }
}
