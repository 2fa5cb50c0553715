//! Of constants with one value, leaves the first one.
//!
//! A constant is an array that the program makes and no step changes: it has its first value, zeros or the bytes that the
//! function gave, in each replay. So two constants of one element type with the same bytes are one array to all that read
//! them. Bytes are compared, not numbers: 0 and -0 stay apart, and so do NaNs of several kinds. Arrays in parts are left
//! as they are.

use std::collections::HashMap;

use dahl_core::__program::Initial;

use crate::graph::{Graph, Origin, Task};
use crate::listing::label;

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let mut is_constant: Vec<bool> =
        graph.arrays.iter().map(|array| array.is_temporary() && array.part.is_none()).collect();
    graph.tasks.iter().flat_map(Task::writes).for_each(|array| is_constant[array] = false);
    for array in &graph.arrays {
        if let Origin::Part(whole) = array.origin {
            is_constant[whole] = false;
        }
    }
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
