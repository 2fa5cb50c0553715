//! Computes tasks of constants once, while the program is recorded, and of constants with one value leaves the first one.
//!
//! A constant is an array that the program makes and no step changes: it has its first value, zeros or the bytes that the
//! function gave, in each replay. A task whose inputs are constants writes the same in each replay, since a kernel is a function
//! of its inputs and its arguments. Its kernel is called here, in the floating-point environment of a worker, and what it writes
//! is another constant. A task that writes a result of the program, fails, or would make a large constant stays.
//!
//! Two constants of one element type with the same bytes are one array to all that read
//! them. Bytes are compared, not numbers: 0 and -0 stay apart, and so do NaNs of several kinds. Arrays in parts are left
//! as they are.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use dahl_core::__program::{Initial, Part, compute};

use super::makers::Makers;
use crate::graph::{Graph, Origin, Task};
use crate::listing::label;

/// The most bytes of what is computed while the program is recorded: a constant keeps its memory.
const MOST_BYTES: usize = 1 << 20;

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let mut is_constant: Vec<bool> =
        graph.arrays.iter().map(|array| array.is_temporary() && array.part.is_none()).collect();
    graph.tasks.iter().flat_map(Task::writes).for_each(|array| is_constant[array] = false);
    for array in &graph.arrays {
        if let Origin::Part(whole) = array.origin {
            is_constant[whole] = false;
        }
    }
    let mut notes = compute_constants(graph, &mut is_constant);
    notes.extend(merge(graph, &is_constant));
    notes
}

/// Computes tasks of constants.
fn compute_constants(graph: &mut Graph, is_constant: &mut [bool]) -> Vec<String> {
    let makers = Makers::of(graph);
    let mut divided = vec![false; graph.arrays.len()];
    for array in &graph.arrays {
        if let Origin::Part(whole) = array.origin {
            divided[whole] = true;
        }
    }
    let (mut goes, mut notes) = (HashSet::new(), Vec::new());
    for step in 0..graph.tasks.len() {
        let task = &graph.tasks[step];
        let Some(part) = task.desc().filter(|_| makers.is_free(graph, step)).and_then(Part::of) else {
            continue;
        };
        let array = |operand: usize| task.uses[part.access(operand)].array;
        let inputs: Option<Vec<usize>> = (0..part.output()).map(array).collect();
        let (Some(inputs), Some(output)) = (inputs, array(part.output())) else { continue };
        if !inputs.iter().all(|&input| is_constant[input]) {
            continue;
        }
        let what = format!("{} of {}", task.codelet(), task.location);
        let made = &graph.arrays[output];
        if !made.is_temporary() || divided[output] {
            continue;
        }
        if made.bytes > MOST_BYTES {
            notes.push(format!("{what} stays: what it computes of constants has {} bytes", made.bytes));
            continue;
        }
        let bytes = |input: &usize| match &graph.arrays[*input].initial {
            Initial::Zeros => Cow::Owned(vec![0; graph.arrays[*input].bytes]),
            Initial::Bytes(bytes) => Cow::Borrowed(&bytes[..]),
        };
        let values: Vec<Cow<'_, [u8]>> = inputs.iter().map(bytes).collect();
        let values: Vec<&[u8]> = values.iter().map(|value| &**value).collect();
        match compute(&part, &values).filter(|value| value.len() == made.bytes) {
            Some(value) => {
                graph.arrays[output].initial = Initial::Bytes(value.into());
                is_constant[output] = true;
                goes.insert(step);
                notes.push(format!("{what} is computed once"));
            }
            None => notes.push(format!("{what} stays: it fails, or writes a part of an array")),
        }
    }
    let mut step = 0;
    graph.tasks.retain(|_| {
        step += 1;
        !goes.contains(&(step - 1))
    });
    notes
}

/// Makes one array of constants with one value.
fn merge(graph: &mut Graph, is_constant: &[bool]) -> Vec<String> {
    let mut found: HashMap<(&str, usize, Option<&[u8]>), usize> = HashMap::new();
    let mut same: Vec<usize> = (0..graph.arrays.len()).collect();
    for (number, array) in graph.arrays.iter().enumerate().filter(|(number, _)| is_constant[*number]) {
        let value = match &array.initial {
            Initial::Zeros => None,
            Initial::Bytes(bytes) => Some(&bytes[..]),
        };
        same[number] = *found.entry((array.element.name, array.bytes, value)).or_insert(number);
    }
    let merged = (0..same.len()).filter(|&array| same[array] != array);
    let label = |array: usize| label(graph.arrays[array].name.as_deref(), array);
    let notes = merged.map(|array| format!("{} is {}", label(array), label(same[array]))).collect();
    for access in graph.tasks.iter_mut().flat_map(|task| &mut task.uses) {
        access.array = access.array.map(|array| same[array]);
    }
    notes
}
