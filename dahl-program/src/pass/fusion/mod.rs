//! Makes one task of tasks that pass values on to each other. `dahl-core` has the proof for each kind
//! (`codelet/tile_run.rs`, `codelet/reducer.rs`): the fused task calls the same kernels on tiles, in the same order.
//!
//! * **Maps of one shape.** A map computes each element of its output from one element of each input, so tiles are any boxes.
//! * **Operations by rows** (sums, extremes, means, softmax and norms along last axes), and maps of other shapes around them. Their
//!   declarations say along how many leading axes they compute rows apart from each other (`rows(..)`), so tiles are some rows,
//!   and all that the tasks do with them happens in the cache.
//! * **Sums of everything.** The sum's kernel adds blocks in a declared order, and the fused task adds the same blocks in
//!   the same order. One sum joins a task: the order in which tiles are made is that of its blocks.
//! * **Any other kernel**, such as a product or a convolution, one in a task: what is before it is its prologue, what comes after it
//!   its epilogue. It is cut into rows if its declaration allows that and what each row reads whole stays in the cache. Otherwise
//!   it is not cut: all that the task uses and passes on fits into one tile, and each kernel runs on whole arrays, as without
//!   fusion. A kernel
//!   that several workers may share is not cut either. Nobody but the fused task reads what such a kernel passes on or gets, so no
//!   other task waits longer than before.
//!
//! On runtimes with devices only maps are fused, and of these only such as have kernels in CUDA: the fused task has kernels for both.
//!
//! What only other steps of the task read is never written to memory. A step joins a task if no other step would have to run
//! in the middle of it: no path leads from the task to the step through a third one.

mod groups;

mod task;
mod tiles;

use groups::Groups;

use crate::graph::Graph;

/// Which tasks are fused.
#[derive(Clone, Copy)]
pub(super) struct Fuses {
    /// Maps with maps of the same shape.
    pub(super) maps: bool,
    /// Sums and operations by rows with each other, and with the maps around them.
    pub(super) reductions: bool,
    /// Other kernels with the maps and operations by rows around them.
    pub(super) epilogues: bool,
    /// Whether several workers may share a large kernel. Such a kernel is not cut.
    pub(super) shares_kernels: bool,
    /// Whether the runtime has devices: only maps are fused that have a kernel there.
    pub(super) on_devices: bool,
}

impl Fuses {
    /// Whether any tasks are fused.
    pub(super) fn any(self) -> bool {
        self.maps || self.reductions || self.epilogues
    }
}

pub(super) fn run(graph: &mut Graph, fuses: Fuses) -> Vec<String> {
    let mut groups = Groups::of(graph, fuses);
    if fuses.maps {
        groups.join_maps();
    }
    let mut apart = Vec::new();
    if fuses.reductions || fuses.epilogues {
        apart.extend(groups.join_rows());
    }
    if fuses.reductions {
        apart.extend(groups.join_sums());
    }
    let (tasks, mut notes) = groups.tasks();
    graph.tasks = tasks;
    notes.extend(apart);
    notes
}
