//! Passes: transformations of a graph that change no bit of what the program computes.
//!
//! Each pass has a file, whose first comment says why the results stay the same.

mod common_subexpressions;
mod dead_tasks;
mod fusion;

use std::fmt;

use fusion::Fuses;

use crate::graph::Graph;

/// Which passes a program's graph goes through. By default all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    dead_tasks: bool,
    common_subexpressions: bool,
    fusion: bool,
    reductions: bool,
}

impl Default for Passes {
    fn default() -> Self {
        Self::all()
    }
}

/// What a pass did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassReport {
    /// The pass.
    pub pass: &'static str,
    /// The tasks before it.
    pub before: usize,
    /// The tasks after it.
    pub after: usize,
    /// What it did, and what it could not do, a sentence each.
    pub notes: Vec<String>,
}

impl fmt::Display for PassReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} tasks, {} before", self.pass, self.after, self.before)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n    {note}"))
    }
}

impl Passes {
    /// All passes.
    pub const fn all() -> Self {
        Self { dead_tasks: true, common_subexpressions: true, fusion: true, reductions: true }
    }

    /// No pass: the graph stays as it was recorded.
    pub const fn none() -> Self {
        Self { dead_tasks: false, common_subexpressions: false, fusion: false, reductions: false }
    }

    /// Whether tasks are removed whose results nobody uses.
    pub const fn dead_tasks(mut self, on: bool) -> Self {
        self.dead_tasks = on;
        self
    }

    /// Whether of several tasks that compute the same from the same values, one is left.
    pub const fn common_subexpressions(mut self, on: bool) -> Self {
        self.common_subexpressions = on;
        self
    }

    /// Whether maps that pass values on to each other become one task.
    pub const fn fusion(mut self, on: bool) -> Self {
        self.fusion = on;
        self
    }

    /// Whether a sum joins the maps that make its input. It is a part of the fusion, and can be on alone.
    pub const fn reductions(mut self, on: bool) -> Self {
        self.reductions = on;
        self
    }

    /// Takes a graph through the passes, on a runtime that `has_devices` or has none.
    pub(crate) fn run(self, graph: &mut Graph, has_devices: bool) -> Vec<PassReport> {
        let mut reports = Vec::new();
        let mut run = |on: bool, name: &'static str, pass: &dyn Fn(&mut Graph) -> Vec<String>| {
            if on {
                let before = graph.tasks();
                let notes = pass(graph);
                graph.prune();
                reports.push(PassReport { pass: name, before, after: graph.tasks(), notes });
            }
        };
        run(self.common_subexpressions, "common subexpressions", &common_subexpressions::run);
        run(self.dead_tasks, "dead tasks", &dead_tasks::run);
        let fuses = Fuses { maps: self.fusion, reductions: self.reductions };
        let is_on = fuses.maps || fuses.reductions;
        run(is_on && !has_devices, "fusion", &|graph| fusion::run(graph, fuses));
        if is_on && has_devices {
            let notes = vec!["not done: fused maps have no kernel for devices".to_owned()];
            reports.push(PassReport { pass: "fusion", before: graph.tasks(), after: graph.tasks(), notes });
        }
        reports
    }
}
