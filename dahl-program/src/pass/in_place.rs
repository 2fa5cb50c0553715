//! Lets a map overwrite an input that nobody reads after it: two arrays become one.
//!
//! A map computes each element of its output from the elements at the same place of its inputs, so a declaration can have a
//! kernel that writes the output over one of them. That kernel computes the same values, so the bits are the same. The two
//! arrays become one, which the map changes. That is right if
//!
//! * the input is a temporary array that a step writes before any reads it, and the map reads it once,
//! * each other step that uses the input comes before the map, in any order in which the program may run: nobody misses the
//!   old value, and no step has to wait for one that it did not wait for before,
//! * no step uses the output before the map, which overwrites all of it, and only the program sees it, or it is a result,
//! * neither is ever in parts, and both have one element type and as many bytes: later accesses find their elements at the
//!   offsets that they have in the output.
//!
//! The program then needs the memory of one of them, and the output is in a cache if the input is.

use dahl_core::__program::{Initial, StepKind, in_place};

use crate::graph::{Graph, Order, Origin, Reach, Use};

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let Some(reach) = Reach::of(&Order::of(graph)) else {
        return vec!["not done: there are too many tasks to know which comes after which".to_owned()];
    };
    let mut arrays = Arrays::of(graph);
    let mut notes = Vec::new();
    for step in 0..graph.tasks.len() {
        let task = &graph.tasks[step];
        let Some(map) = task.desc().and_then(in_place) else { continue };
        let of = |access: usize| task.uses[access].array;
        let (Some(target), Some(output)) = (of(map.target), of(map.output)) else { continue };
        let written =
            task.desc().and_then(|desc| desc.accesses().nth(map.output)).map(|access| access.extents());
        let elements: usize = written.expect("a map has an output").iter().product();
        let is_whole = elements * graph.arrays[output].element.size_bytes == graph.arrays[output].bytes;
        let is_read_once = task.uses.iter().filter(|access| access.array == Some(target)).count() == 1;
        let why = if is_read_once && is_whole {
            arrays.keeps_apart(graph, &reach, step, target, output)
        } else {
            Some("it reads its input twice, or writes a part of its output")
        };
        if let Some(why) = why {
            notes.push(format!("{} of {} overwrites nothing: {why}", task.codelet(), task.location));
            continue;
        }
        notes.push(format!("{} of {} overwrites an input", task.codelet(), task.location));
        let task = &mut graph.tasks[step];
        task.uses[map.target] = Use { array: Some(target), reads: true, writes: true };
        task.uses.remove(map.output);
        task.kind = StepKind::Task(Box::new(map.desc));
        arrays.join(graph, target, output);
    }
    notes
}

/// What is known of each array.
struct Arrays {
    /// The steps that use it, in order.
    steps: Vec<Vec<usize>>,
    /// Whether the first of them reads it.
    begins: Vec<bool>,
    /// Whether it is in parts, or a part.
    is_divided: Vec<bool>,
}

impl Arrays {
    fn of(graph: &Graph) -> Self {
        let count = graph.arrays.len();
        let (mut steps, mut begins) = (vec![Vec::new(); count], vec![false; count]);
        for (step, task) in graph.tasks.iter().enumerate() {
            for access in &task.uses {
                let Some(array) = access.array else { continue };
                begins[array] |= access.reads && steps[array].iter().all(|&other| other == step);
                if steps[array].last() != Some(&step) {
                    steps[array].push(step);
                }
            }
        }
        let mut is_divided = vec![false; count];
        for (number, array) in graph.arrays.iter().enumerate() {
            is_divided[number] |= array.part.is_some();
            if let Origin::Part(whole) = array.origin {
                (is_divided[number], is_divided[whole]) = (true, true);
            }
        }
        Self { steps, begins, is_divided }
    }

    /// Why `step`, a map of `target` to `output`, cannot change one array in place of both.
    fn keeps_apart(
        &self,
        graph: &Graph,
        reach: &Reach,
        step: usize,
        target: usize,
        output: usize,
    ) -> Option<&'static str> {
        let (old, new) = (&graph.arrays[target], &graph.arrays[output]);
        let is_private = old.is_temporary() && matches!(new.origin, Origin::Temporary | Origin::Output(_));
        let is_alike = old.element == new.element && old.bytes == new.bytes;
        let is_whole = !self.is_divided[target] && !self.is_divided[output];
        let is_made_before = !self.begins[target] && old.initial == Initial::Zeros;
        let is_made_here = self.steps[output].first() == Some(&step) && new.initial == Initial::Zeros;
        let is_dead_after = || {
            self.steps[target]
                .iter()
                .all(|&other| other == step || (other < step && reach.is_after(step, other)))
        };
        if !is_private {
            return Some("its input is an argument or a result, or its output is an argument");
        }
        if !(is_alike && is_whole) {
            return Some("its input and its output are in parts, or differ in type or size");
        }
        if !(is_made_before && is_made_here) {
            return Some("its input is a constant, or its output has a value before it");
        }
        (!is_dead_after()).then_some("another task may use its input after it")
    }

    /// Makes one array of a map's input and its output: the output if it is a result, otherwise the input.
    fn join(&mut self, graph: &mut Graph, target: usize, output: usize) {
        let is_result = !graph.arrays[output].is_temporary();
        let (stays, goes) = if is_result { (output, target) } else { (target, output) };
        let mut steps = std::mem::take(&mut self.steps[target]);
        steps.extend(std::mem::take(&mut self.steps[output]));
        steps.dedup();
        self.begins[stays] = self.begins[target];
        for &step in &steps {
            for access in &mut graph.tasks[step].uses {
                access.array = access.array.map(|array| if array == goes { stays } else { array });
            }
        }
        self.steps[stays] = steps;
    }
}
