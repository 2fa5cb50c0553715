//! The order of tasks with the least peak of memory.
//!
//! Each task reads outputs of others and has an output, which occupies memory from the task's start until its last reader
//! has ended. [`order()`] looks for an order of the tasks in which the peak is least, and says what it has proven. The problem
//! is NP-hard (it contains the one-shot pebble game: Sethi, "Complete Register Allocation Problems", 1975).
//!
//! | part | what it does |
//! |---|---|
//! | `graph` | tasks with their readers, and what a task changes in memory |
//! | `postorder`, `beam` | heuristics: orders for graphs of any size |
//! | `search` | the exact search over sets of tasks that have ended |
//!
//! `docs/plans.md` describes the search.

mod beam;
mod error;
mod graph;
mod postorder;
mod search;
mod task;

pub use error::Error;
use graph::Graph;
pub use task::{Options, Order, Task};

/// An order and its peak.
#[derive(Clone, Debug)]
struct Found {
    tasks: Vec<usize>,
    peak: u64,
}

/// An order of all tasks, each after those whose outputs it reads, with a low peak.
///
/// The result depends on the tasks and the options only.
///
/// ```
/// use dahl_plan::order::{Options, Task, order};
///
/// let task = |reads: &[usize], output| Task { reads: reads.to_vec(), output, ..Task::default() };
/// // Two large outputs, each with a reader whose output is small.
/// let tasks = [task(&[], 8), task(&[], 8), task(&[0], 1), task(&[1], 1), task(&[2, 3], 1)];
/// let plan = order(&tasks, &Options::default())?;
/// assert_eq!((plan.peak, plan.optimal), (10, true));
/// # Ok::<(), dahl_plan::order::Error>(())
/// ```
///
/// # Errors
/// If a task reads what is no task, if tasks read each other in a cycle, or if sizes add up to 2^63 bytes.
pub fn order(tasks: &[Task], options: &Options) -> Result<Order, Error> {
    let graph = Graph::new(tasks)?;
    let tasks = postorder::order(&graph);
    let mut found = Found { peak: graph.peak(&tasks), tasks };
    let other = beam::order(&graph, options.beam.max(1));
    if other.peak < found.peak {
        found = other;
    }
    Ok(search::improve(&graph, found, options.states))
}
