//! Makes one task of maps that pass values on to each other, and of a sum of what they compute.
//!
//! A map computes each element of its output from one element of each input. So maps of one shape can run on one tile after
//! the other: each calls its own kernel on the tile, and gets the same elements as if it ran on the whole, so it writes the
//! same bits. What only other maps of the task read is never written to memory. A map joins a task if no other step would
//! have to run in the middle of it: no path leads from the task to the map through a third step.
//!
//! A sum joins the maps if its input is what one of them makes, and nobody else reads that: the input is then never written
//! to memory. The sum's kernel adds blocks in a declared order, and the fused task adds the same blocks in the same order
//! (`Reducer` in `dahl-core` has the proof), so the total has the same bits. One sum joins a task: the order in which tiles
//! are made is that of its blocks.

use std::collections::HashMap;

use dahl_core::__program::{FusedOperand, Map, StepKind, fuse, is_map, is_reduction, stretched};

use crate::graph::{Graph, Order, Task, Use};

/// The most maps of a task, and the most operands.
const MOST_MAPS: usize = 32;
const MOST_OPERANDS: usize = 24;

/// Which tasks are fused.
#[derive(Clone, Copy)]
pub(super) struct Fuses {
    /// Maps with maps.
    pub(super) maps: bool,
    /// Sums with the maps before them.
    pub(super) reductions: bool,
}

pub(super) fn run(graph: &mut Graph, fuses: Fuses) -> Vec<String> {
    let mut groups = Groups::of(graph);
    let makers = Makers::of(graph);
    if fuses.maps {
        groups.join_maps(graph, &makers);
    }
    let apart = if fuses.reductions { groups.join_reductions(graph, &makers) } else { Vec::new() };
    let mut notes = groups.apply(graph);
    notes.extend(apart);
    notes
}

/// Which steps become one.
struct Groups {
    /// The group of each step: the number of its first one.
    group: Vec<usize>,
    members: HashMap<usize, Vec<usize>>,
    /// The groups of the steps that wait for each step.
    after: Vec<Vec<u32>>,
    before: Vec<Vec<usize>>,
}

impl Groups {
    fn of(graph: &Graph) -> Self {
        let after = Order::of(graph).after;
        let mut before = vec![Vec::new(); after.len()];
        for (step, after) in after.iter().enumerate() {
            after.iter().for_each(|&next| before[next as usize].push(step));
        }
        let group = (0..graph.tasks.len()).collect();
        let members = (0..graph.tasks.len()).map(|step| (step, vec![step])).collect();
        Self { group, members, after, before }
    }

    /// Joins maps.
    fn join_maps(&mut self, graph: &Graph, makers: &Makers) {
        for step in 0..graph.tasks.len() {
            if !makers.is_fusible(graph, step) {
                continue;
            }
            for array in graph.tasks[step].uses.iter().filter(|access| !access.writes) {
                let Some(made_by) = array.array.and_then(|array| makers.of_before(array, step)) else {
                    continue;
                };
                let fits = makers.is_fusible(graph, made_by) && domain(graph, made_by) == domain(graph, step);
                if fits && self.group[made_by] != self.group[step] && self.may_join(graph, made_by, step) {
                    self.join(made_by, step);
                }
            }
        }
    }

    /// Joins sums to the maps that make their inputs. For each sum of what a map makes that stays apart, says why.
    fn join_reductions(&mut self, graph: &Graph, makers: &Makers) -> Vec<String> {
        let mut notes = Vec::new();
        for (step, task) in graph.tasks.iter().enumerate() {
            if !task.desc().is_some_and(is_reduction) {
                continue;
            }
            let [Some(array), Some(total)] = [0, 1].map(|index| task.uses[index].array) else { continue };
            let Some(made_by) = makers.of_before(array, step) else { continue };
            if !makers.is_fusible(graph, made_by) {
                continue;
            }
            match self.keeps_apart(graph, step, made_by, [array, total]) {
                None => self.join(made_by, step),
                Some(why) => {
                    notes.push(format!("{} of {} stays apart: {why}", task.codelet(), task.location))
                }
            }
        }
        notes
    }

    /// Why a sum of `array` into `total` cannot join the map that makes `array`.
    fn keeps_apart(
        &self,
        graph: &Graph,
        step: usize,
        made_by: usize,
        [array, total]: [usize; 2],
    ) -> Option<&'static str> {
        let members = || self.members[&self.group[made_by]].iter().map(|&member| &graph.tasks[member]);
        let readers = || graph.tasks.iter().filter(|task| task.reads().any(|read| read == array));
        if !graph.arrays[array].is_temporary() || readers().count() > 1 {
            return Some("its input is also used otherwise");
        }
        if [array, total].iter().any(|&array| graph.arrays[array].part.is_some()) {
            return Some("it uses a part of an array");
        }
        if members().any(|task| task.uses.iter().any(|access| access.array == Some(total))) {
            return Some("the maps use its output");
        }
        if members().any(|task| task.desc().is_some_and(is_reduction)) {
            return Some("another sum has joined the maps");
        }
        // The fused task finds the shape of what is summed in its inputs.
        let made: Vec<usize> = members().flat_map(Task::writes).collect();
        let inputs = members().flat_map(|task| {
            let accesses = task.desc().expect("a map is a task").accesses();
            task.uses.iter().zip(accesses).filter(|(access, _)| !access.writes)
        });
        let inputs = inputs.filter(|(access, _)| access.array.is_none_or(|array| !made.contains(&array)));
        if stretched(inputs.map(|(_, access)| access.extents())).as_deref() != domain(graph, made_by) {
            return Some("the inputs of the maps do not have the shape of what is summed");
        }
        (!self.may_join(graph, made_by, step))
            .then_some("other tasks run between the maps and it, or they are too many")
    }

    /// Whether the groups of two steps can become one.
    fn may_join(&self, graph: &Graph, one: usize, other: usize) -> bool {
        let (one, other) = (self.group[one], self.group[other]);
        let members = || self.members[&one].iter().chain(&self.members[&other]).copied();
        let operands: usize = members().map(|step| graph.tasks[step].uses.len()).sum();
        if members().count() > MOST_MAPS || operands > MOST_OPERANDS + members().count() {
            return false;
        }
        // Each may run only after all that the others wait for: look for a way out of both and back.
        let is_inside = |step: usize| self.group[step] == one || self.group[step] == other;
        let mut seen = vec![false; graph.tasks.len()];
        let mut next: Vec<usize> = Vec::new();
        for step in members() {
            next.extend(
                self.after[step].iter().map(|&after| after as usize).filter(|&after| !is_inside(after)),
            );
        }
        while let Some(step) = next.pop() {
            if is_inside(step) {
                return false;
            }
            if std::mem::replace(&mut seen[step], true) {
                continue;
            }
            // What is fused with it runs with it.
            for &member in &self.members[&self.group[step]] {
                seen[member] = true;
                next.extend(
                    self.after[member].iter().map(|&after| after as usize).filter(|&after| !seen[after]),
                );
            }
        }
        true
    }

    fn join(&mut self, one: usize, other: usize) {
        let (into, from) = (self.group[one].min(self.group[other]), self.group[one].max(self.group[other]));
        let moved = self.members.remove(&from).expect("a group has members");
        moved.iter().for_each(|&step| self.group[step] = into);
        let members = self.members.get_mut(&into).expect("a group has members");
        members.extend(moved);
        members.sort_unstable();
    }

    /// Replaces the steps of each group by one, in an order that keeps all dependencies.
    fn apply(self, graph: &mut Graph) -> Vec<String> {
        let mut notes = Vec::new();
        let mut last_reads: Vec<Vec<usize>> = vec![Vec::new(); graph.arrays.len()];
        for (step, task) in graph.tasks.iter().enumerate() {
            task.reads().for_each(|array| last_reads[array].push(step));
        }
        let order = self.sorted();
        let mut tasks = Vec::with_capacity(order.len());
        for group in order {
            let members = &self.members[&group];
            if let [only] = members[..] {
                tasks.push(graph.tasks[only].clone());
                continue;
            }
            let is_passed = |array: usize| {
                graph.arrays[array].is_temporary()
                    && last_reads[array].iter().all(|step| self.group[*step] == group)
            };
            let task = fused(graph, members, is_passed);
            notes.push(format!("{} of {}", task.codelet(), task.location));
            tasks.push(task);
        }
        graph.tasks = tasks;
        notes
    }

    /// The groups, so that each comes after all that it waits for, otherwise as they were.
    fn sorted(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.members.len());
        let mut done = vec![false; self.group.len()];
        let mut stack: Vec<(usize, bool)> = Vec::new();
        for step in 0..self.group.len() {
            stack.push((self.group[step], false));
            while let Some((group, is_ready)) = stack.pop() {
                if done[group] {
                    continue;
                }
                if is_ready {
                    done[group] = true;
                    order.push(group);
                    continue;
                }
                stack.push((group, true));
                for &member in &self.members[&group] {
                    for &before in &self.before[member] {
                        let before = self.group[before];
                        if before != group && !done[before] {
                            stack.push((before, false));
                        }
                    }
                }
            }
        }
        order
    }
}

/// Who makes each array.
struct Makers {
    producer: Vec<Option<usize>>,
    first: Vec<Option<usize>>,
}

impl Makers {
    fn of(graph: &Graph) -> Self {
        Self { producer: producers(graph), first: first_uses(graph) }
    }

    /// The step before `step` that makes an array.
    fn of_before(&self, array: usize, step: usize) -> Option<usize> {
        self.producer[array].filter(|&made_by| made_by < step)
    }

    /// Whether a step is a map of whole arrays, whose arguments do not vary, and whose output no other step changes and none
    /// has used before.
    fn is_fusible(&self, graph: &Graph, step: usize) -> bool {
        let task = &graph.tasks[step];
        let is_whole = |access: &Use| access.array.is_some_and(|array| graph.arrays[array].part.is_none());
        let is_made_here =
            |array: usize| self.producer[array] == Some(step) && self.first[array] == Some(step);
        task.desc().is_some_and(is_map)
            && !task.varies()
            && task.uses.iter().all(is_whole)
            && task.writes().all(is_made_here)
    }
}

/// The step that makes each array, if one writes it, once.
fn producers(graph: &Graph) -> Vec<Option<usize>> {
    let mut producer = vec![None; graph.arrays.len()];
    let mut changes = vec![0; graph.arrays.len()];
    for (step, task) in graph.tasks.iter().enumerate() {
        for array in task.writes() {
            changes[array] += 1;
            producer[array] = Some(step);
        }
    }
    producer
        .iter_mut()
        .zip(changes)
        .filter(|(_, changes)| *changes != 1)
        .for_each(|(made_by, _)| *made_by = None);
    producer
}

/// The first step that uses each array.
fn first_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut first = vec![None; graph.arrays.len()];
    for (step, task) in graph.tasks.iter().enumerate() {
        for array in task.uses.iter().filter_map(|access| access.array) {
            first[array].get_or_insert(step);
        }
    }
    first
}

/// The shape of a map.
fn domain(graph: &Graph, step: usize) -> Option<&[usize]> {
    graph.tasks[step].desc()?.accesses().last().map(|access| access.extents())
}

/// One task for the maps of these steps, and the sum among them.
fn fused(graph: &Graph, members: &[usize], is_passed: impl Fn(usize) -> bool) -> Task {
    let is_sum = |step: &usize| graph.tasks[*step].desc().is_some_and(is_reduction);
    let (sums, members): (Vec<usize>, Vec<usize>) = members.iter().partition(|step| is_sum(step));
    let sum = sums.first().map(|&step| &graph.tasks[step]);
    // What is made inside, and not passed on only, is an output; what is read from outside is an input.
    let made: Vec<usize> = members.iter().flat_map(|&step| graph.tasks[step].writes()).collect();
    let mut passed: Vec<usize> = Vec::new();
    let (mut inputs, mut outputs): (Vec<(usize, Vec<usize>)>, Vec<usize>) = (Vec::new(), Vec::new());
    for &step in &members {
        let task = &graph.tasks[step];
        for (access, layout) in task.uses.iter().zip(task.desc().expect("a map is a task").accesses()) {
            let array = access.array.expect("a map has no temporary memory");
            if access.writes {
                if is_passed(array) { passed.push(array) } else { outputs.push(array) }
            } else if !made.contains(&array) {
                let input = (array, layout.extents().to_vec());
                if !inputs.contains(&input) {
                    inputs.push(input);
                }
            }
        }
    }
    let maps: Vec<Map<'_>> = members
        .iter()
        .map(|&step| {
            let task = &graph.tasks[step];
            let desc = task.desc().expect("a map is a task");
            let operand = |(access, extents): (&Use, &[usize])| {
                let array = access.array.expect("a map has no temporary memory");
                if let Some(index) = passed.iter().position(|&other| other == array) {
                    return FusedOperand::Passed(index);
                }
                if let Some(index) = outputs.iter().position(|&other| other == array) {
                    return FusedOperand::Given(inputs.len() + index);
                }
                let is_it = |(other, shape): &(usize, Vec<usize>)| *other == array && shape == extents;
                FusedOperand::Given(inputs.iter().position(is_it).expect("it was found above"))
            };
            let accesses = task.uses.iter().zip(desc.accesses().map(|access| access.extents()));
            Map { desc, operands: accesses.map(operand).collect() }
        })
        .collect();
    let reduction = sum.map(|sum| {
        let is_its = |&array: &usize| sum.uses[0].array == Some(array);
        let passed = passed.iter().position(is_its).expect("only the sum reads its input");
        (sum.desc().expect("a sum is a task"), passed)
    });
    let desc = fuse(&maps, inputs.len(), reduction);
    let read = inputs.iter().map(|(array, _)| Use { array: Some(*array), reads: true, writes: false });
    let written = outputs.iter().map(|&array| Use { array: Some(array), reads: false, writes: true });
    let uses = read.chain(written).chain(sum.map(|sum| sum.uses[1])).collect();
    Task {
        location: desc.location(),
        uses,
        varying: Vec::new(),
        bodies: Vec::new(),
        kind: StepKind::Task(Box::new(desc)),
    }
}
