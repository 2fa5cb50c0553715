//! [`Planner`]: plans a graph and makes an instance of it, with the bodies of its branches and loops.

use std::panic::Location;
use std::sync::Arc;

use dahl_core::__program::{ArraySpec, Begins, Engine, Initial, Instance, Place, ProgramMemory, Step};
use dahl_core::{Codelet, Result};

use crate::graph::{Array, Graph, Order, Origin};
use crate::plan::{Demand, Effort, MemoryPlan, Sharing, least_bytes, recompute};

/// So many times the steps of a graph may be there after recomputation.
const MOST_STEPS: usize = 4;

/// What plans depend on.
pub(crate) struct Planner<'p> {
    pub(crate) engine: &'p Engine,
    /// The program, as a codelet.
    pub(crate) codelet: &'static Codelet,
    /// Whether the order of the steps is one in which little memory is in use.
    pub(crate) tight: bool,
    /// The call that records.
    pub(crate) location: &'static Location<'static>,
}

/// The plans of a graph, and of the bodies of each step.
pub(crate) struct Planned {
    pub(crate) memory: MemoryPlan,
    order: Order,
    bodies: Vec<Vec<Planned>>,
}

impl Planner<'_> {
    /// Plans a graph, whose steps may get another order.
    pub(crate) fn plan(&self, graph: &mut Graph) -> Planned {
        let mut order = Order::of(graph);
        let demand = Demand::of(graph);
        let mut memory = match self.tight {
            false => MemoryPlan::new(&demand, &mut order, Sharing::Ordered),
            true => {
                let reorder = |steps: &[usize]| {
                    graph.reorder(steps);
                    (Demand::of(graph), Order::of(graph))
                };
                let (memory, tight) = MemoryPlan::tight(demand, order, &Effort::OF_RECORDING, reorder);
                order = tight;
                memory
            }
        };
        let bodies_of = |bodies: &mut Vec<Graph>| bodies.iter_mut().map(|body| self.plan(body)).collect();
        let bodies: Vec<Vec<Planned>> =
            graph.tasks.iter_mut().map(|task| bodies_of(&mut task.bodies)).collect();
        memory.add_bodies(bodies.iter().flatten().map(|planned| planned.memory.all_bytes()).sum());
        Planned { memory, order, bodies }
    }

    /// Lets tasks of a graph run again until its plan has at most `most` bytes, as far as that helps. Notes of what runs again.
    ///
    /// It ends at the latest when the graph has [`MOST_STEPS`] times as many steps.
    pub(crate) fn fit(&self, graph: &mut Graph, planned: &mut Planned, most: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let (least, bodies) = (least_bytes(graph), planned.memory.bodies_bytes());
        planned.memory.allow_recomputation(least);
        if least + bodies > most {
            return notes;
        }
        let most_steps = MOST_STEPS * graph.steps().len();
        let (mut limit, mut is_lowered) = (most - bodies, false);
        while planned.memory.all_bytes() > most {
            let more = recompute(graph, limit, most_steps);
            // What is in use may fit, and its places not: then the limit is lowered once more.
            if more.is_empty() && std::mem::replace(&mut is_lowered, true) {
                break;
            }
            if !more.is_empty() {
                is_lowered = false;
                notes.extend(more);
                *planned = self.plan(graph);
            }
            limit = limit.saturating_sub(planned.memory.all_bytes().saturating_sub(most));
        }
        planned.memory.allow_recomputation(least);
        notes
    }

    /// The instance of a graph that was planned, with its arrays in `of`; without it, that of a body.
    ///
    /// # Errors
    /// As [`Instance::new`].
    pub(crate) fn instance(
        &self,
        graph: &Graph,
        planned: Planned,
        of: Option<&Arc<ProgramMemory>>,
    ) -> Result<(MemoryPlan, Arc<Instance>)> {
        let Planned { memory, order, bodies } = planned;
        let mut steps = Vec::with_capacity(graph.steps().len());
        for ((task, after), planned) in graph.steps().iter().zip(order.after).zip(bodies) {
            let bodies = task.bodies.iter().zip(planned);
            let bodies = bodies.map(|(body, planned)| Ok(self.instance(body, planned, None)?.1));
            steps.push(Step {
                kind: task.kind.clone(),
                arrays: task.uses.iter().map(|access| access.array).collect(),
                after,
                varying: task.varying.clone(),
                bodies: bodies.collect::<Result<_>>()?,
                location: task.location,
            });
        }
        let arrays = arrays(graph, &memory);
        let bytes = memory.peak_bytes();
        let instance = Instance::new(self.engine, self.codelet, arrays, bytes, steps, of, self.location)?;
        Ok((memory, instance))
    }
}

/// The arrays of an instance: bound ones, and those that the plan places.
fn arrays(graph: &Graph, memory: &MemoryPlan) -> Vec<ArraySpec> {
    let is_argument = |array: &&Array| matches!(array.origin(), Origin::Argument(_));
    let arguments = graph.arrays().iter().filter(is_argument).count();
    let mut begins: Vec<Option<bool>> = vec![None; graph.arrays().len()];
    let mut changes = vec![false; graph.arrays().len()];
    for access in graph.steps().iter().flat_map(|task| task.uses()) {
        if let Some(array) = access.array {
            begins[graph.root(array)].get_or_insert(access.reads);
            changes[graph.root(array)] |= access.writes;
        }
    }
    let spec = |(number, array): (usize, &Array)| {
        let place = match array.origin() {
            Origin::Argument(index) => Place::Bound(index),
            Origin::Output(index) => Place::Bound(arguments + index),
            Origin::Part(_) => Place::Part(array.part.expect("a part has a place")),
            Origin::Temporary => Place::At(memory.offset(number).expect("what a program makes is placed")),
        };
        let is_made = matches!(array.origin(), Origin::Temporary);
        let initial = match &array.initial {
            Initial::Bytes(bytes) if is_made => Some(Arc::clone(bytes)),
            _ => None,
        };
        ArraySpec {
            element: array.element(),
            bytes: array.bytes(),
            place,
            part: array.part,
            begins: match is_made && begins[number] == Some(true) {
                true if changes[number] => Begins::EachReplay,
                true => Begins::Placed,
                false => Begins::Unset,
            },
            initial,
        }
    };
    graph.arrays().iter().enumerate().map(spec).collect()
}
