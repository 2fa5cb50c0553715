//! [`Graph`]: the tasks of a program, and [`Recorder`], which collects them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dahl::AccessMode;
use dahl::observer::{ArrayId, Observer, Submission};

/// The tasks of a program, in the order of submission. Numbers of the runtime's own tasks are included, without a
/// codelet.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Indexed by the number of the task.
    pub tasks: Vec<Node>,
}

/// A task.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The codelet's name.
    pub codelet: &'static str,
    /// The tasks that it depends on; larger numbers were submitted later.
    pub before: Vec<usize>,
    /// The array that it writes first.
    pub writes: Option<ArrayId>,
}

/// The last accesses of an array.
#[derive(Default)]
struct Uses {
    writer: Option<usize>,
    readers: Vec<usize>,
}

#[derive(Default)]
struct Recording {
    graph: Graph,
    arrays: HashMap<ArrayId, Uses>,
}

/// Collects the graph of a run.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Recording>>);

impl Recorder {
    /// The tasks that have been submitted so far.
    pub fn graph(&self) -> Graph {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).graph.clone()
    }
}

impl Observer for Recorder {
    fn submitted(&self, task: &Submission<'_>) {
        let mut recording = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Recording { graph, arrays } = &mut *recording;
        let number = task.sequence() as usize;
        let mut node = Node { codelet: task.codelet().name, ..Node::default() };
        for access in task.accesses() {
            let Some(array) = access.array() else { continue };
            let uses = arrays.entry(array).or_default();
            node.before.extend(uses.writer);
            if access.mode() == AccessMode::R {
                uses.readers.push(number);
            } else {
                node.before.append(&mut uses.readers);
                uses.writer = Some(number);
                node.writes.get_or_insert(array);
            }
        }
        node.before.retain(|&before| before != number);
        graph.tasks.resize_with(graph.tasks.len().max(number + 1), Node::default);
        graph.tasks[number] = node;
    }
}

impl Graph {
    /// For each task, the number of tasks of the longest chain that begins with it.
    pub fn depths(&self) -> Vec<i64> {
        let mut depths = vec![1; self.tasks.len()];
        for (number, node) in self.tasks.iter().enumerate().rev() {
            for &before in &node.before {
                depths[before] = depths[before].max(depths[number] + 1);
            }
        }
        depths
    }
}
