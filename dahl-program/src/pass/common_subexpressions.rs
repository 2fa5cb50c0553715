//! Of several tasks that compute the same from the same values, leaves the first one.
//!
//! A kernel is a function of its inputs and its arguments: operations that draw random numbers get their seed as an argument.
//! So two tasks with one codelet, kernel, arguments and layouts, whose inputs are the same arrays with the same values,
//! write the same bits. A value is an array and how many steps have changed it so far. The later task goes if it writes
//! temporary arrays only, if no other step changes these or what the earlier task wrote, and if none of them is ever in
//! parts. Then every reader reads what the earlier task wrote.

use std::collections::{HashMap, HashSet};

use dahl_core::__program::Varying;

use crate::graph::{Graph, Origin, Task};

/// What a task computes: codelet, kernel, arguments, which of them vary and how, and for each access the layout and, if it reads, the value.
type Key =
    (usize, usize, Vec<u8>, Vec<Varying>, Vec<(Vec<usize>, Vec<isize>, usize, Option<(usize, usize)>)>);

pub(super) fn run(graph: &mut Graph) -> Vec<String> {
    let mut changes = vec![0_usize; graph.arrays.len()];
    graph.tasks.iter().flat_map(Task::writes).for_each(|array| changes[array] += 1);
    let mut has_parts = vec![false; graph.arrays.len()];
    for array in &graph.arrays {
        if let Origin::Part(whole) = array.origin {
            has_parts[whole] = true;
        }
    }
    let may_merge =
        |array: usize| graph.arrays[array].part.is_none() && !has_parts[array] && changes[array] == 1;
    let mergeable: Vec<bool> = (0..graph.arrays.len()).map(may_merge).collect();
    let mut version = vec![0_usize; graph.arrays.len()];
    let mut same: Vec<usize> = (0..graph.arrays.len()).collect();
    let mut found: HashMap<Key, usize> = HashMap::new();
    let mut goes = HashSet::new();
    let mut notes = Vec::new();
    for step in 0..graph.tasks.len() {
        for access in &mut graph.tasks[step].uses {
            if !access.writes {
                access.array = access.array.map(|array| same[array]);
            }
        }
        let task = &graph.tasks[step];
        let writes_once = task
            .uses
            .iter()
            .filter(|access| access.writes)
            .all(|access| access.array.is_some_and(|array| !access.reads && mergeable[array]));
        if let Some(key) = key(graph, task, &version).filter(|_| writes_once) {
            let is_temporary = task.writes().all(|array| graph.arrays[array].origin == Origin::Temporary);
            match found.get(&key) {
                Some(&earlier) if is_temporary => {
                    let pairs: Vec<_> = task.writes().zip(graph.tasks[earlier].writes()).collect();
                    pairs.into_iter().for_each(|(later, earlier)| same[later] = earlier);
                    goes.insert(step);
                    let (task, earlier) = (&graph.tasks[step], &graph.tasks[earlier]);
                    notes.push(format!(
                        "{} of {} is that of {}",
                        task.codelet(),
                        task.location,
                        earlier.location
                    ));
                }
                Some(&earlier) => notes.push(format!(
                    "{} of {} computes what that of {} does, and stays: it writes a result or an argument",
                    graph.tasks[step].codelet(),
                    graph.tasks[step].location,
                    graph.tasks[earlier].location
                )),
                None => drop(found.insert(key, step)),
            }
        }
        graph.tasks[step].writes().for_each(|array| version[array] += 1);
    }
    let mut step = 0;
    graph.tasks.retain(|_| {
        step += 1;
        !goes.contains(&(step - 1))
    });
    notes
}

fn key(graph: &Graph, task: &Task, version: &[usize]) -> Option<Key> {
    let desc = task.desc().filter(|desc| desc.is_plain_call())?;
    let of = task.uses.iter().zip(desc.accesses()).map(|(access, layout)| {
        let value = access.array.filter(|_| access.reads).map(|array| (array, version[graph.root(array)]));
        (layout.extents().to_vec(), layout.strides(), layout.offset(), value)
    });
    // A part may be changed through its whole array.
    let is_whole =
        task.uses.iter().filter_map(|access| access.array).all(|array| graph.arrays[array].part.is_none());
    let (codelet, kernel) = desc.call_id();
    is_whole.then(|| (codelet, kernel, desc.arguments().to_vec(), task.varying.clone(), of.collect()))
}
