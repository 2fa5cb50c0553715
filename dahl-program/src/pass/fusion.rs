//! Makes one task of maps that pass values on to each other.
//!
//! A map computes each element of its output from one element of each input. So maps of one shape can run on one tile after
//! the other: each calls its own kernel on the tile, and gets the same elements as if it ran on the whole, so it writes the
//! same bits. What only other maps of the task read is never written to memory. A map joins a task if no other step would
//! have to run in the middle of it: no path leads from the task to the map through a third step.

use std::collections::HashMap;

use dahl_core::__program::{FusedOperand, Map, StepKind, fuse, is_map};

use crate::graph::{Graph, Order, Task, Use};

/// The most maps of a task, and the most operands.
const MOST_MAPS: usize = 32;
const MOST_OPERANDS: usize = 24;

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let groups = Groups::of(graph);
    groups.apply(graph)
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
        let mut groups = Self { group, members, after, before };
        let producer = producers(graph);
        let first = first_uses(graph);
        let is_fusible = |step: usize| is_fusible(graph, step, &producer, &first);
        for step in 0..graph.tasks.len() {
            if !is_fusible(step) {
                continue;
            }
            for access in graph.tasks[step].uses.iter().filter(|access| !access.writes) {
                let Some(made_by) =
                    access.array.and_then(|array| producer[array]).filter(|&made_by| made_by < step)
                else {
                    continue;
                };
                let fits = is_fusible(made_by) && domain(graph, made_by) == domain(graph, step);
                if fits
                    && groups.group[made_by] != groups.group[step]
                    && groups.may_join(graph, made_by, step)
                {
                    groups.join(made_by, step);
                }
            }
        }
        groups
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

/// Whether a step is a map of whole arrays, whose arguments do not vary, and whose output no other step changes and none has used before.
fn is_fusible(graph: &Graph, step: usize, producer: &[Option<usize>], first: &[Option<usize>]) -> bool {
    let task = &graph.tasks[step];
    let is_whole = |access: &Use| access.array.is_some_and(|array| graph.arrays[array].part.is_none());
    let is_made_here = |array: usize| producer[array] == Some(step) && first[array] == Some(step);
    task.desc().is_some_and(is_map)
        && !task.varies()
        && task.uses.iter().all(is_whole)
        && task.writes().all(is_made_here)
}

/// The shape of a map.
fn domain(graph: &Graph, step: usize) -> Option<&[usize]> {
    graph.tasks[step].desc()?.accesses().last().map(|access| access.extents())
}

/// One task for the maps of these steps.
fn fused(graph: &Graph, members: &[usize], is_passed: impl Fn(usize) -> bool) -> Task {
    // What is made inside, and not passed on only, is an output; what is read from outside is an input.
    let made: Vec<usize> = members.iter().flat_map(|&step| graph.tasks[step].writes()).collect();
    let mut passed: Vec<usize> = Vec::new();
    let (mut inputs, mut outputs): (Vec<(usize, Vec<usize>)>, Vec<usize>) = (Vec::new(), Vec::new());
    for &step in members {
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
    let desc = fuse(&maps, inputs.len());
    let read = inputs.iter().map(|(array, _)| Use { array: Some(*array), reads: true, writes: false });
    let written = outputs.iter().map(|&array| Use { array: Some(array), reads: false, writes: true });
    let uses = read.chain(written).collect();
    Task { location: desc.location(), uses, varying: Vec::new(), kind: StepKind::Task(Box::new(desc)) }
}
