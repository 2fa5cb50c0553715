//! [`Graphs`]: executable graphs of launches that repeat (`GRAPHS.md`).

use std::collections::{HashMap, HashSet};
use std::ptr;

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::calls;
use super::error::{CudaError, check};
use super::graph_counts::GraphCounts;
use super::launches::{Form, Launches};

/// The most graphs that are kept.
const GRAPHS: usize = 64;
/// The most runs of launches that are remembered, with a graph or without.
const RUNS: usize = 4 * GRAPHS;
/// How often a run must have come before a graph is made of it.
const SEEN: u32 = 1;

/// What became of runs of launches, by their forms.
#[derive(Debug, Default)]
pub(super) struct Graphs {
    runs: HashMap<Box<[Form]>, KnownRun>,
    /// With which launches remembered runs begin.
    beginnings: HashSet<Form>,
    /// Counts the runs that came.
    time: u64,
    counts: GraphCounts,
}

/// What is known of a run.
#[derive(Debug, Default)]
struct KnownRun {
    /// How often it came before there was a graph of it.
    seen: u32,
    /// When it came last.
    last: u64,
    graph: Option<Graph>,
    /// Whether the driver did not want it as a graph.
    refused: bool,
}

/// An executable graph.
///
/// # Invariant
/// G: `raw`, `executable` and `nodes`, one for each launch, are the driver's until this is dropped; the nodes follow each other in a
/// chain, and are what `launches` says.
#[derive(Debug)]
struct Graph {
    raw: CUgraph,
    executable: CUgraphExec,
    nodes: Vec<CUgraphNode>,
    launches: Launches,
}

// SAFETY: graphs of the driver may be used by any thread, by one at a time: whoever holds the lock that they lie behind.
unsafe impl Send for Graph {}

impl Graphs {
    pub(super) fn counts(&self) -> GraphCounts {
        let kept = self.runs.values().filter(|run| run.graph.is_some()).count() as u64;
        GraphCounts { kept, ..self.counts }
    }

    /// Whether a remembered run begins with this launch.
    pub(super) fn begins(&self, form: &Form) -> bool {
        self.beginnings.contains(form)
    }

    /// Forgets everything. What was launched still runs.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.beginnings.clear();
    }

    /// Gives a run to a stream as one graph. False if it is to be launched singly, and nothing of it has been.
    ///
    /// # Errors
    /// If the device is lost.
    ///
    /// # Safety
    /// As for [`Form::launch`], of each.
    pub(super) unsafe fn launch(&mut self, launches: &Launches, raw: CUstream) -> Result<bool, CudaError> {
        self.time += 1;
        if !self.runs.contains_key(launches.forms()) {
            self.forget_a_run();
            self.beginnings.extend(launches.forms().first());
            self.runs.insert(launches.forms().into(), KnownRun::default());
        }
        let run = self.runs.get_mut(launches.forms()).expect("it is there now");
        run.last = self.time;
        if run.refused || (run.graph.is_none() && run.seen < SEEN) {
            run.seen = run.seen.saturating_add(1);
            return Ok(false);
        }
        if run.graph.is_none() {
            self.drop_a_graph();
        }
        let run = self.runs.get_mut(launches.forms()).expect("it is there still");
        // SAFETY: the caller's.
        match unsafe { run.replay(launches, raw, &mut self.counts) } {
            Ok(()) => Ok(true),
            Err(error) if error.is_loss() => Err(error),
            Err(_) => {
                run.graph = None;
                run.refused = true;
                self.counts.refused += 1;
                Ok(false)
            }
        }
    }

    /// Forgets the run that has not come for the longest time, if there are too many.
    fn forget_a_run(&mut self) {
        if self.runs.len() < RUNS {
            return;
        }
        let oldest = self.runs.iter().min_by_key(|(_, run)| run.last).map(|(forms, _)| forms.clone());
        oldest.and_then(|forms| self.runs.remove(&forms));
        self.beginnings = self.runs.keys().filter_map(|forms| forms.first().copied()).collect();
    }

    /// Drops the graph of the run that has not come for the longest time, if there are too many.
    fn drop_a_graph(&mut self) {
        let graphs = || self.runs.values().filter(|run| run.graph.is_some());
        if graphs().count() < GRAPHS {
            return;
        }
        if let Some(oldest) =
            self.runs.values_mut().filter(|run| run.graph.is_some()).min_by_key(|run| run.last)
        {
            *oldest = KnownRun { last: oldest.last, ..KnownRun::default() };
        }
    }
}

impl KnownRun {
    /// # Safety
    /// As for [`Graphs::launch`].
    unsafe fn replay(
        &mut self,
        launches: &Launches,
        raw: CUstream,
        counts: &mut GraphCounts,
    ) -> Result<(), CudaError> {
        let graph = match &mut self.graph {
            Some(graph) => {
                counts.updated += graph.update(launches)?;
                graph
            }
            none => {
                let made = Graph::new(launches)?;
                counts.instantiated += 1;
                none.insert(made)
            }
        };
        // SAFETY: G; the stream is the caller's, and what the parameters lead to is as well.
        check("cuGraphLaunch", unsafe { calls::cuGraphLaunch(graph.executable, raw) })?;
        counts.replayed += 1;
        counts.kernels += launches.forms().len() as u64;
        Ok(())
    }
}

impl Graph {
    /// A chain of nodes, one for each launch. The context is current.
    fn new(launches: &Launches) -> Result<Self, CudaError> {
        let mut raw = ptr::null_mut();
        // SAFETY: room for a graph; 0 is the only flag that exists.
        check("cuGraphCreate", unsafe { calls::cuGraphCreate(&raw mut raw, 0) })?;
        let mut graph =
            Self { raw, executable: ptr::null_mut(), nodes: Vec::new(), launches: launches.copy() };
        for (index, form) in launches.forms().iter().enumerate() {
            let mut pointers = launches.parameters(index).pointers();
            let launch = form.node(&mut pointers);
            let before = graph.nodes.last().copied();
            let after = before.as_ref().map_or(ptr::null(), ptr::from_ref);
            let mut node = ptr::null_mut();
            let count = usize::from(before.is_some());
            // SAFETY: room for a node; so many nodes of the graph; the driver has read the values when the call returns.
            let code = unsafe {
                calls::cuGraphAddKernelNode_v2(&raw mut node, graph.raw, after, count, &raw const launch)
            };
            check("cuGraphAddKernelNode", code)?;
            graph.nodes.push(node);
        }
        // SAFETY: room for an executable graph; 0 for none of the flags.
        let code = unsafe { calls::cuGraphInstantiateWithFlags(&raw mut graph.executable, graph.raw, 0) };
        check("cuGraphInstantiate", code)?;
        Ok(graph)
    }

    /// Gives the nodes the values of these launches, whose forms are the same; how many nodes had others. What has been
    /// launched keeps what it had.
    fn update(&mut self, launches: &Launches) -> Result<u64, CudaError> {
        let mut updated = 0;
        for (index, form) in launches.forms().iter().enumerate() {
            let parameters = launches.parameters(index);
            if parameters.words == self.launches.parameters(index).words {
                continue;
            }
            let mut pointers = parameters.pointers();
            let launch = form.node(&mut pointers);
            let node = self.nodes[index];
            // SAFETY: G; the driver has read the values when the call returns.
            let code =
                unsafe { calls::cuGraphExecKernelNodeSetParams_v2(self.executable, node, &raw const launch) };
            check("cuGraphExecKernelNodeSetParams", code)?;
            updated += 1;
        }
        self.launches.take_values(launches);
        Ok(updated)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        if !self.executable.is_null() {
            // SAFETY: G; what was launched of it still runs.
            unsafe { calls::cuGraphExecDestroy(self.executable) };
        }
        // SAFETY: G.
        unsafe { calls::cuGraphDestroy(self.raw) };
    }
}
