//! [`ListedTask`]: what the tasks of a listing amount to, for whoever plans or simulates them.

use std::collections::BTreeSet;

use super::{Action, Form, Listing};

/// A task of a listing: its amount of work, and its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTask {
    /// The name of the codelet; that of a task of a reduction is `fold` or `finish`.
    pub codelet: String,
    /// The extents of its operands.
    pub footprint: Vec<Vec<usize>>,
    /// The floating-point operations that the codelet's declaration says.
    pub flops: Option<f64>,
    /// The bytes that it moves: as declared, otherwise those of its arrays.
    pub bytes: f64,
    /// The arrays that it uses.
    pub arrays: Vec<ListedAccess>,
    /// Its priority.
    pub priority: i32,
    /// The numbers of the tasks that it waits for, by their places in the list of all.
    pub after: Vec<usize>,
}

/// An array that a task uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedAccess {
    /// Its number.
    pub array: usize,
    /// Its size.
    pub bytes: usize,
    /// Whether the task reads it.
    pub reads: bool,
    /// Whether the task writes it.
    pub writes: bool,
}

impl Listing {
    /// The tasks that workers run, in the order of the listing. Splits and joins of partitions are no tasks; what waits for one
    /// waits for the tasks before it.
    ///
    /// # Errors
    /// If the program has a branch or a loop, whose tasks depend on values.
    pub fn listed_tasks(&self) -> Result<Vec<ListedTask>, String> {
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.steps.len()];
        let mut followers = vec![Vec::new(); self.steps.len()];
        for (from, to) in self.edges() {
            followers[from].push(to);
        }
        let mut tasks = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let after = std::mem::take(&mut before[number]);
            let passed = match &step.action {
                Action::Task(call) => {
                    let name = match call.form {
                        Form::Fold => "fold",
                        Form::Finish => "finish",
                        Form::Call | Form::InPlace => &self.codelets[call.codelet].name,
                    };
                    let views = step.uses.iter().filter_map(|used| used.view.as_ref());
                    let arrays = step.uses.iter().filter_map(|used| {
                        let array = used.array?;
                        let bytes = self.arrays[array].bytes;
                        Some(ListedAccess { array, bytes, reads: used.reads, writes: used.writes })
                    });
                    let arrays: Vec<_> = arrays.collect();
                    let of_arrays: usize = arrays.iter().map(|access| access.bytes).sum();
                    tasks.push(ListedTask {
                        codelet: name.to_owned(),
                        footprint: views.map(|view| view.extents.clone()).collect(),
                        flops: call.flops.map(|flops| flops as f64),
                        bytes: call.bytes_moved.map_or(of_arrays as f64, |bytes| bytes as f64),
                        arrays,
                        priority: call.priority,
                        after: after.into_iter().collect(),
                    });
                    BTreeSet::from([tasks.len() - 1])
                }
                Action::Branch | Action::RepeatWhile => {
                    let fact = "which tasks run in a branch or a loop depends on values: trace a run instead";
                    return Err(format!("step {number}: {fact}"));
                }
                Action::Split(_) | Action::Join(_) | Action::Forget => after,
            };
            for &follower in &followers[number] {
                before[follower].extend(&passed);
            }
        }
        Ok(tasks)
    }
}
