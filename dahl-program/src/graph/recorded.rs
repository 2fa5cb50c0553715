//! The graph of a recording.

use std::collections::{HashMap, HashSet};

use dahl_core::__program::{
    ArrayId, Initial, LoggedArray, LoggedFlow, LoggedPartition, LoggedRegion, LoggedStep, PartOf, Recorded,
    StepKind, Varying,
};
use dahl_core::AccessMode;

use super::{Array, Graph, Origin, Task, Use};

/// The arrays of a recording, by their ids.
struct Logged {
    arrays: Vec<LoggedArray>,
    numbers: HashMap<ArrayId, usize>,
}

impl Graph {
    /// The graph of a recording, whose arguments have these names.
    pub(crate) fn new(name: &'static str, recorded: Recorded, names: &[String]) -> Self {
        assert_eq!(recorded.steps.len(), recorded.varying.len(), "each step has its arguments that vary");
        let numbers = recorded.arrays.iter().enumerate().map(|(number, array)| (array.id, number));
        let logged = Logged { numbers: numbers.collect(), arrays: recorded.arrays };
        let mut arrays: Vec<_> = logged.arrays.iter().map(Array::of).collect();
        for (index, id) in recorded.arguments.iter().enumerate() {
            let array = &mut arrays[logged.numbers[id]];
            array.origin = Origin::Argument(index);
            array.name = Some(names.get(index).cloned().unwrap_or_else(|| format!("argument {index}")));
        }
        for (index, (id, extents, _)) in recorded.outputs.iter().enumerate() {
            let array = &mut arrays[logged.numbers[id]];
            array.origin = Origin::Output(index);
            array.extents.clone_from(extents);
        }
        let own: Vec<_> = (0..arrays.len()).map(Some).collect();
        let steps = recorded.steps.into_iter().zip(recorded.varying);
        let tasks = logged.tasks(&mut arrays, &own, steps);
        let mut graph = Self { name, arrays, tasks };
        graph.prune();
        graph
    }
}

impl Array {
    fn of(logged: &LoggedArray) -> Self {
        Self {
            name: None,
            element: logged.element,
            bytes: logged.bytes,
            extents: Vec::new(),
            origin: Origin::Temporary,
            part: logged.part,
            initial: logged.initial.clone(),
        }
    }
}

impl Logged {
    /// The tasks of these steps. `own` is the number of each array of the recording among `arrays`.
    fn tasks(
        &self,
        arrays: &mut [Array],
        own: &[Option<usize>],
        steps: impl Iterator<Item = (LoggedStep, Vec<Varying>)>,
    ) -> Vec<Task> {
        let number = |id: &ArrayId| own[self.numbers[id]].expect("an array of a step is one of its graph");
        let of_partition = |partition: &LoggedPartition| {
            let LoggedPartition { whole, parts, shared, .. } = partition;
            let uses = std::iter::once(whole).chain(parts).enumerate().map(|(index, id)| Use {
                array: Some(number(id)),
                reads: true,
                writes: index > 0 || !shared,
            });
            uses.collect::<Vec<_>>()
        };
        let task = |(step, varying): (LoggedStep, Vec<Varying>)| {
            let (kind, uses, bodies, location) = match step {
                LoggedStep::Task { desc, arrays: used, .. } => {
                    for (id, access) in used.iter().zip(desc.accesses()) {
                        if let Some(array) = id.as_ref().map(|id| &mut arrays[number(id)])
                            && array.extents.is_empty()
                        {
                            array.extents = access.extents().to_vec();
                        }
                    }
                    let used = used.iter().map(|id| id.as_ref().map(number));
                    let uses = used.zip(desc.accesses()).map(|(array, access)| Use {
                        array,
                        reads: access.needs_value(),
                        writes: !matches!(access.mode(), AccessMode::R | AccessMode::SCRATCH),
                    });
                    let (uses, location) = (uses.collect(), desc.location());
                    (StepKind::Task(desc), uses, Vec::new(), location)
                }
                LoggedStep::Split(split) => {
                    for part in &split.parts {
                        arrays[number(part)].origin = Origin::Part(number(&split.whole));
                    }
                    let uses = of_partition(&split);
                    (StepKind::Split(split.shared), uses, Vec::new(), split.location)
                }
                LoggedStep::Join(join) => {
                    let uses = of_partition(&join);
                    (StepKind::Join(join.shared), uses, Vec::new(), join.location)
                }
                LoggedStep::Forget(id, location) => {
                    let uses = vec![Use { array: Some(number(&id)), reads: false, writes: true }];
                    (StepKind::Forget, uses, Vec::new(), location)
                }
                LoggedStep::Flow(flow) => {
                    let outside = self.outside(&flow);
                    let given: Vec<&Array> = outside
                        .iter()
                        .map(|&array| &arrays[own[array].expect("it is made outside")])
                        .collect();
                    let regions = flow.bodies.into_iter().zip(flow.flow.bodies());
                    let bodies = regions.map(|(region, name)| self.body(name, region, &outside, &given));
                    let bodies: Vec<_> = bodies.collect();
                    let uses = outside.iter().enumerate().map(|(index, &array)| Use {
                        array: own[array],
                        reads: true,
                        writes: bodies.iter().any(|body| body.changes_argument(index)),
                    });
                    (StepKind::Flow(flow.flow), uses.collect(), bodies, flow.location)
                }
            };
            Task { kind, uses, varying, bodies, location }
        };
        steps.map(task).collect()
    }

    /// The graph of a body, whose arguments are these arrays.
    fn body(&self, name: &'static str, region: LoggedRegion, outside: &[usize], given: &[&Array]) -> Graph {
        let inside = self.inside(&region);
        let mut own = vec![None; self.arrays.len()];
        let mut arrays = Vec::with_capacity(outside.len() + inside.len());
        for (index, (&array, given)) in outside.iter().zip(given).enumerate() {
            let logged = &self.arrays[array];
            own[array] = Some(index);
            arrays.push(Array {
                name: given.name.clone(),
                origin: Origin::Argument(index),
                // In the body it is no part of a partition: that is open outside.
                part: logged.part.map(PartOf::as_argument),
                initial: Initial::Zeros,
                ..Array::of(logged)
            });
        }
        for array in inside {
            own[array] = Some(arrays.len());
            arrays.push(Array::of(&self.arrays[array]));
        }
        let steps = region.steps.into_iter().map(|step| (step, Vec::new()));
        let tasks = self.tasks(&mut arrays, &own, steps);
        for (array, given) in arrays.iter_mut().zip(given) {
            if array.extents.is_empty() {
                array.extents.clone_from(&given.extents);
            }
        }
        let mut graph = Graph { name, arrays, tasks };
        graph.prune();
        graph
    }

    /// The arrays that the bodies of a branch or of a loop use and do not make, by their numbers in the recording: first the
    /// condition.
    fn outside(&self, flow: &LoggedFlow) -> Vec<usize> {
        let mut outside = vec![self.numbers[&flow.condition]];
        let mut seen: HashSet<usize> = outside.iter().copied().collect();
        for region in &flow.bodies {
            let inside: HashSet<usize> = self.inside(region).into_iter().collect();
            for step in &region.steps {
                outside.extend(
                    self.used(step)
                        .into_iter()
                        .filter(|array| !inside.contains(array) && seen.insert(*array)),
                );
            }
        }
        outside
    }

    /// The arrays that a body makes, and the parts that it makes of arrays, ascending.
    fn inside(&self, region: &LoggedRegion) -> Vec<usize> {
        let made = region.arrays.clone().filter(|&array| self.arrays[array].part.is_none());
        let splits = region.steps.iter().filter_map(|step| match step {
            LoggedStep::Split(split) => Some(split.parts.iter().map(|part| self.numbers[part])),
            _ => None,
        });
        let mut inside: Vec<usize> = made.chain(splits.flatten()).collect();
        inside.sort_unstable();
        inside.dedup();
        inside
    }

    /// The arrays that a step uses.
    fn used(&self, step: &LoggedStep) -> Vec<usize> {
        match step {
            LoggedStep::Task { arrays, .. } => arrays.iter().flatten().map(|id| self.numbers[id]).collect(),
            LoggedStep::Split(partition) | LoggedStep::Join(partition) => {
                std::iter::once(&partition.whole).chain(&partition.parts).map(|id| self.numbers[id]).collect()
            }
            LoggedStep::Forget(id, _) => vec![self.numbers[id]],
            LoggedStep::Flow(flow) => self.outside(flow),
        }
    }
}
