//! [`Groups`]: which steps become one.

use std::collections::HashMap;

use dahl_core::__program::{Kind, Part, TaskDesc, is_map_on_devices, is_reduction};

use super::super::makers::Makers;
use super::Fuses;
use super::task::fused;
use super::tiles::{Member, Tiles, has_extents};
use crate::graph::{Graph, Order, Task};

/// The most steps of a task, and the most operands.
const MOST_STEPS: usize = 32;
const MOST_OPERANDS: usize = 24;

/// Which steps become one.
pub(super) struct Groups<'g> {
    graph: &'g Graph,
    fuses: Fuses,
    makers: Makers,
    /// The steps that can be fused.
    parts: Vec<Option<Part<'g>>>,
    /// The group of each step: the number of its first one.
    group: Vec<usize>,
    members: HashMap<usize, Vec<usize>>,
    /// The steps that wait for each step, and those that it waits for.
    after: Vec<Vec<u32>>,
    before: Vec<Vec<usize>>,
}

impl<'g> Groups<'g> {
    pub(super) fn of(graph: &'g Graph, fuses: Fuses) -> Self {
        let after = Order::of(graph).after;
        let mut before = vec![Vec::new(); after.len()];
        for (step, after) in after.iter().enumerate() {
            after.iter().for_each(|&next| before[next as usize].push(step));
        }
        let makers = Makers::of(graph);
        let part = |(step, task): (usize, &'g Task)| {
            let is_wanted = |desc: &TaskDesc| {
                let has_kernels = !fuses.on_devices || is_map_on_devices(desc);
                has_kernels && makers.is_free(graph, step) && !is_reduction(desc)
            };
            let desc = task.desc().filter(|desc| is_wanted(desc));
            desc.and_then(Part::of)
        };
        let parts = graph.tasks.iter().enumerate().map(part).collect();
        let group = (0..graph.tasks.len()).collect();
        let members = (0..graph.tasks.len()).map(|step| (step, vec![step])).collect();
        Self { graph, fuses, makers, parts, group, members, after, before }
    }

    /// Joins maps of one shape.
    pub(super) fn join_maps(&mut self) {
        let shape = |part: &Option<Part<'g>>| {
            let map = part.as_ref().filter(|part| part.kind() == Kind::Map);
            map.map(|part| part.extents(part.output()))
        };
        for step in 0..self.graph.tasks.len() {
            let Some(own) = shape(&self.parts[step]) else { continue };
            for (_, made_by) in self.made_before(step) {
                let fits = shape(&self.parts[made_by]) == Some(own);
                let is_apart = self.group[made_by] != self.group[step];
                if fits && is_apart && self.tiles_of(made_by, step).is_ok() && self.may_join(made_by, step) {
                    self.join(made_by, step);
                }
            }
        }
    }

    /// Joins operations by rows and other kernels with what makes their inputs and reads their outputs. For each pair that
    /// stays apart, says why.
    pub(super) fn join_rows(&mut self) -> Vec<String> {
        let mut apart = Vec::new();
        for step in 0..self.graph.tasks.len() {
            if self.parts[step].is_none() {
                continue;
            }
            for (array, made_by) in self.made_before(step) {
                let is_apart = self.parts[made_by].is_some() && self.group[made_by] != self.group[step];
                if !is_apart || !self.is_on(made_by, step) {
                    continue;
                }
                match self.keeps_rows_apart(array, made_by, step) {
                    None => self.join(made_by, step),
                    Some(why) => apart.push((made_by, step, why)),
                }
            }
        }
        apart.retain(|(one, other, _)| self.group[*one] != self.group[*other]);
        let of = |step: usize| {
            let task = &self.graph.tasks[step];
            format!("{} of {}", task.codelet(), task.location)
        };
        apart
            .iter()
            .map(|&(one, other, why)| format!("{} stays apart from {}: {why}", of(other), of(one)))
            .collect()
    }

    /// Whether steps of the kinds that the groups of two steps have are to be fused.
    fn is_on(&self, made_by: usize, step: usize) -> bool {
        let has = |step: usize, kind: Kind| {
            let steps = &self.members[&self.group[step]];
            steps.iter().filter_map(|&step| self.parts[step].as_ref()).any(|part| part.kind() == kind)
        };
        match [made_by, step].map(|step| has(step, Kind::Whole)) {
            [true, true] => false,
            [true, false] | [false, true] => self.fuses.epilogues,
            [false, false] => {
                let is_of_maps = |step| !has(step, Kind::Rows) && !has(step, Kind::Finish);
                self.fuses.reductions && (self.fuses.maps || !(is_of_maps(made_by) && is_of_maps(step)))
            }
        }
    }

    /// The tiles of the groups of two steps together.
    fn tiles_of(&self, one: usize, other: usize) -> Result<Tiles, &'static str> {
        let mut steps = self.members[&self.group[one]].clone();
        steps.extend(&self.members[&self.group[other]]);
        steps.sort_unstable();
        Tiles::of(&self.members_of(&steps), self.fuses.shares_kernels)
    }

    /// Why a step and the one that makes `array`, which it reads, stay apart.
    fn keeps_rows_apart(&self, array: usize, made_by: usize, step: usize) -> Option<&'static str> {
        let mut steps = self.members[&self.group[made_by]].clone();
        steps.extend(&self.members[&self.group[step]]);
        steps.sort_unstable();
        let members = self.members_of(&steps);
        let is_only_read_inside = self.makers.readers(array).iter().all(|reader| steps.contains(reader));
        let has_whole = members.iter().any(|member| member.part.kind() == Kind::Whole);
        if has_whole && !(self.graph.arrays[array].is_temporary() && is_only_read_inside) {
            return Some("what is passed on is also used otherwise");
        }
        if let Err(why) = self.tiles_of(made_by, step) {
            return Some(why);
        }
        (!self.may_join(made_by, step)).then_some("other tasks run between them, or they are too many")
    }

    /// Joins sums to the steps that make their inputs. For each sum of what is made so that stays apart, says why.
    pub(super) fn join_sums(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        for (step, task) in self.graph.tasks.iter().enumerate() {
            if !task.desc().is_some_and(is_reduction) {
                continue;
            }
            let [Some(array), Some(total)] = [0, 1].map(|index| task.uses[index].array) else { continue };
            let Some(made_by) = self.makers.of_before(array, step) else { continue };
            let Some(maker) = &self.parts[made_by] else { continue };
            if maker.kind() == Kind::Whole && !self.fuses.epilogues {
                continue;
            }
            match self.keeps_sum_apart(step, made_by, [array, total]) {
                None => self.join(made_by, step),
                Some(why) => {
                    notes.push(format!("{} of {} stays apart: {why}", task.codelet(), task.location))
                }
            }
        }
        notes
    }

    /// Why a sum of `array` into `total` cannot join the step that makes `array`.
    fn keeps_sum_apart(
        &self,
        step: usize,
        made_by: usize,
        [array, total]: [usize; 2],
    ) -> Option<&'static str> {
        let steps = &self.members[&self.group[made_by]];
        let tasks = || steps.iter().map(|&member| &self.graph.tasks[member]);
        if !self.graph.arrays[array].is_temporary() || self.makers.readers(array).len() > 1 {
            return Some("its input is also used otherwise");
        }
        if [array, total].iter().any(|&array| self.graph.arrays[array].part.is_some()) {
            return Some("it uses a part of an array");
        }
        if tasks().any(|task| task.uses.iter().any(|access| access.array == Some(total))) {
            return Some("the maps use its output");
        }
        if steps.iter().any(|&member| self.is_sum(member)) {
            return Some("another sum has joined the maps");
        }
        let members = self.members_of(steps);
        let is_given = |made: usize| made != array && !self.is_passed(made, &self.group[made_by]);
        let Ok(tiles) = Tiles::of(&members, self.fuses.shares_kernels) else {
            return Some("what makes its input does not run tile by tile");
        };
        if !has_extents(&members, tiles, is_given) {
            return Some("the inputs of the maps do not have the shape of what is summed");
        }
        (!self.may_join(made_by, step))
            .then_some("other tasks run between the maps and it, or they are too many")
    }

    /// The arrays that a step reads and one before it makes, with that.
    fn made_before(&self, step: usize) -> Vec<(usize, usize)> {
        let reads = self.graph.tasks[step].uses.iter().filter(|access| !access.writes);
        let arrays = reads.filter_map(|access| access.array);
        arrays.filter_map(|array| Some((array, self.makers.of_before(array, step)?))).collect()
    }

    /// Whether a step is a sum that joins others, not one of them.
    fn is_sum(&self, step: usize) -> bool {
        self.members[&self.group[step]].len() > 1 && self.graph.tasks[step].desc().is_some_and(is_reduction)
    }

    /// Those of these steps that are no sums.
    fn members_of(&self, steps: &[usize]) -> Vec<Member<'_>> {
        let steps = steps.iter().filter(|step| !self.is_sum(**step));
        steps
            .map(|&step| {
                let part = self.parts[step].as_ref().expect("only steps that can be fused are in a group");
                let array = |operand| self.graph.tasks[step].uses[part.access(operand)].array;
                let arrays = (0..part.operands()).map(|operand| array(operand).expect("it uses arrays"));
                Member { part, arrays: arrays.collect() }
            })
            .collect()
    }

    /// Whether only steps of a group read an array.
    fn is_passed(&self, array: usize, group: &usize) -> bool {
        let readers = self.makers.readers(array);
        self.graph.arrays[array].is_temporary()
            && !readers.is_empty()
            && readers.iter().all(|step| self.group[*step] == *group)
    }

    /// Whether the groups of two steps can become one.
    fn may_join(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.group[one], self.group[other]);
        let members = || self.members[&one].iter().chain(&self.members[&other]).copied();
        let operands: usize = members().map(|step| self.graph.tasks[step].uses.len()).sum();
        if members().count() > MOST_STEPS || operands > MOST_OPERANDS + members().count() {
            return false;
        }
        // Each may run only after all that the others wait for: look for a way out of both and back.
        let is_inside = |step: usize| self.group[step] == one || self.group[step] == other;
        let mut seen = vec![false; self.graph.tasks.len()];
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

    /// One task for each group, in an order that keeps all dependencies, and what became one.
    pub(super) fn tasks(&self) -> (Vec<Task>, Vec<String>) {
        let order = self.sorted();
        let (mut tasks, mut notes) = (Vec::with_capacity(order.len()), Vec::new());
        for group in order {
            let steps = &self.members[&group];
            if let [only] = steps[..] {
                tasks.push(self.graph.tasks[only].clone());
                continue;
            }
            let members = self.members_of(steps);
            let sum = steps.iter().find(|step| self.is_sum(**step)).map(|&step| &self.graph.tasks[step]);
            let tiles =
                Tiles::of(&members, self.fuses.shares_kernels).expect("steps are joined if they have tiles");
            let task = fused(&members, sum, tiles, |array| self.is_passed(array, &group));
            notes.push(format!("{} of {}", task.codelet(), task.location));
            tasks.push(task);
        }
        (tasks, notes)
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
