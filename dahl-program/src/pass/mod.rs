//! Passes: transformations of a graph that change no bit of what the program computes.
//!
//! Each pass has a file, whose first comment says why the results stay the same.

mod common_subexpressions;
mod constants;
mod dead_tasks;
mod fusion;
mod in_place;
mod makers;
mod views;

use std::fmt;

use dahl_core::__program::Engine;
use fusion::Fuses;

use crate::graph::Graph;

/// Which passes a program's graph goes through. By default all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    constants: bool,
    dead_tasks: bool,
    common_subexpressions: bool,
    fusion: bool,
    in_place: bool,
    reductions: bool,
    epilogues: bool,
    views: bool,
    recomputation: bool,
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
        Self {
            constants: true,
            dead_tasks: true,
            common_subexpressions: true,
            fusion: true,
            in_place: true,
            reductions: true,
            epilogues: true,
            views: true,
            recomputation: true,
        }
    }

    /// No pass: the graph stays as it was recorded.
    pub const fn none() -> Self {
        Self {
            constants: false,
            dead_tasks: false,
            common_subexpressions: false,
            fusion: false,
            in_place: false,
            reductions: false,
            epilogues: false,
            views: false,
            recomputation: false,
        }
    }

    /// Whether tasks of constants are computed once, while the program is recorded, and of several constants with one value, one
    /// is left.
    pub const fn constants(mut self, on: bool) -> Self {
        self.constants = on;
        self
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

    /// Whether a map overwrites an input that nobody reads after it.
    pub const fn in_place(mut self, on: bool) -> Self {
        self.in_place = on;
        self
    }

    /// Whether sums, and operations by rows such as softmax, join each other and the maps around them. It is a part of the
    /// fusion, and can be on alone.
    pub const fn reductions(mut self, on: bool) -> Self {
        self.reductions = on;
        self
    }

    /// Whether a product, a convolution or another kernel is joined with the maps and operations by rows before and after it.
    /// It is a part of the fusion, and can be on alone.
    pub const fn epilogues(mut self, on: bool) -> Self {
        self.epilogues = on;
        self
    }

    /// Whether moves of elements that undo each other are removed, and moved elements are read where they were.
    pub const fn views(mut self, on: bool) -> Self {
        self.views = on;
        self
    }

    /// Whether tasks may run again for later readers, so that what they make does not stay in memory. Only a program with a limit
    /// on its memory does so, and no more than the limit asks for.
    pub const fn recomputation(mut self, on: bool) -> Self {
        self.recomputation = on;
        self
    }

    pub(crate) const fn recomputes(self) -> bool {
        self.recomputation
    }

    /// Takes a graph through the passes for a runtime.
    pub(crate) fn run(self, graph: &mut Graph, engine: &Engine) -> Vec<PassReport> {
        let has_devices = engine.has_devices();
        let no_fused_kernels = engine.no_fused_kernels();
        let mut reports = self.run_bodies(graph, engine);
        let mut run = |on: bool, name: &'static str, pass: &dyn Fn(&mut Graph) -> Vec<String>| {
            if on {
                let before = graph.tasks();
                let notes = pass(graph);
                graph.prune();
                reports.push(PassReport { pass: name, before, after: graph.tasks(), notes });
            }
        };
        run(self.constants, "constants", &constants::run);
        run(self.views && !has_devices, "views", &views::run);
        run(self.common_subexpressions, "common subexpressions", &common_subexpressions::run);
        run(self.dead_tasks, "dead tasks", &dead_tasks::run);
        let fuses = Fuses {
            maps: self.fusion && no_fused_kernels.is_none(),
            reductions: self.reductions && !has_devices,
            epilogues: self.epilogues && !has_devices,
            shares_kernels: engine.workers() > 1,
            on_devices: has_devices,
        };
        run(fuses.any(), "fusion", &|graph| fusion::run(graph, fuses));
        run(self.in_place && !has_devices, "in place", &in_place::run);
        let not_on_devices = [
            (self.reductions, "reductions", "not done: on a device, only maps have a fused kernel"),
            (self.epilogues, "epilogues", "not done: on a device, only maps have a fused kernel"),
            (self.views, "views", "not done: on a device, arrays are read as they lie there"),
            (self.in_place, "in place", "not done: in place, a kernel of a device may need a copy"),
        ];
        if let Some(reason) = no_fused_kernels.filter(|_| self.fusion) {
            let (tasks, notes) = (graph.tasks(), vec![format!("not done: {reason}")]);
            reports.push(PassReport { pass: "fusion", before: tasks, after: tasks, notes });
        }
        for (_, pass, note) in not_on_devices.into_iter().filter(|(on, ..)| *on && has_devices) {
            let (tasks, notes) = (graph.tasks(), vec![note.to_owned()]);
            reports.push(PassReport { pass, before: tasks, after: tasks, notes });
        }
        reports
    }

    /// Takes the bodies of branches and loops through the passes. To the passes around it, such a step is one that reads and
    /// changes arrays in an unknown way.
    fn run_bodies(self, graph: &mut Graph, engine: &Engine) -> Vec<PassReport> {
        let mut reports = Vec::new();
        for task in &mut graph.tasks {
            let place = format!("the {} of {}", task.codelet(), task.location);
            for body in &mut task.bodies {
                let place = format!("in `{}` of {place}", body.name());
                reports.extend(self.run(body, engine).into_iter().map(|mut report| {
                    report.notes.iter_mut().for_each(|note| *note = format!("{place}: {note}"));
                    report
                }));
            }
        }
        reports.retain(|report| !report.notes.is_empty());
        reports
    }
}
