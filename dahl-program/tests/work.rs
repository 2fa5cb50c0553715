//! What the tasks of a listing amount to: their work, their arrays, and what they wait for.

use std::collections::BTreeSet;

use dahl_core::{Reduction, Result};
use dahl_program::{ListedTask, Listing, Passes};
use proptest::prelude::*;

use crate::listing::recorded;
use crate::program::{Action, COLUMNS, ROWS, actions};
use crate::world::config;

/// The bytes of an array of the programs.
const BYTES: usize = ROWS * COLUMNS * 8;

fn listed(actions: &[Action]) -> Vec<ListedTask> {
    let listing = recorded(actions, Passes::none(), &[]).expect("they can be recorded");
    listing.listed_tasks().expect("there is no branch")
}

/// The arrays of a task: number, whether it reads, and whether it writes.
fn arrays(task: &ListedTask) -> Vec<(usize, bool, bool)> {
    task.arrays.iter().map(|used| (used.array, used.reads, used.writes)).collect()
}

#[test]
fn tasks_have_their_work_their_arrays_and_what_they_wait_for() {
    let tasks =
        listed(&[Action::Mix(0, 1, 2), Action::Map(2, 1, 3), Action::Scale(3, 4), Action::AddAny(0, 1, 2)]);
    let names: Vec<&str> = tasks.iter().map(|task| &*task.codelet).collect();
    assert_eq!(names[..3], ["mix", "map", "scale"]);
    let whole = vec![ROWS, COLUMNS];
    assert_eq!(tasks[0].footprint, [whole.clone(), whole.clone(), whole]);
    assert_eq!(arrays(&tasks[0]), [(0, true, false), (1, true, false), (2, false, true)]);
    assert_eq!(arrays(&tasks[1]), [(2, true, false), (1, true, false), (3, false, true)]);
    assert_eq!(arrays(&tasks[2]), [(3, true, true)]);
    assert!(tasks.iter().flat_map(|task| &task.arrays).all(|used| used.bytes == BYTES));
    let moved: Vec<f64> = tasks[..3].iter().map(|task| task.bytes).collect();
    assert_eq!(moved, [3.0, 3.0, 1.0].map(|arrays| arrays * BYTES as f64), "no codelet declares its bytes");
    assert!(tasks.iter().all(|task| task.flops.is_none() && task.priority == 0), "nor its operations");
    let after: Vec<&[usize]> = tasks[..3].iter().map(|task| &*task.after).collect();
    assert_eq!(after, [&[][..], &[0], &[1]]);
}

#[test]
fn what_waits_for_a_partition_waits_for_the_tasks_before_it() {
    // Five rows in chunks of two are three parts.
    let tasks = listed(&[Action::Scale(0, 1), Action::ScaleParts(0, 0, 2), Action::Scale(0, 3)]);
    let names: Vec<&str> = tasks.iter().map(|task| &*task.codelet).collect();
    assert_eq!(names, ["scale"; 5]);
    let after: Vec<&[usize]> = tasks.iter().map(|task| &*task.after).collect();
    assert_eq!(after, [&[][..], &[0], &[0], &[0], &[1, 2, 3]]);
    let rows: Vec<usize> = tasks.iter().map(|task| task.footprint[0][0]).collect();
    assert_eq!(rows, [ROWS, 2, 2, 1, ROWS]);
    let bytes: Vec<usize> = tasks.iter().map(|task| task.arrays[0].bytes).collect();
    assert_eq!(bytes, rows.iter().map(|rows| rows * COLUMNS * 8).collect::<Vec<_>>());
    let numbers: BTreeSet<usize> = tasks.iter().map(|task| task.arrays[0].array).collect();
    assert_eq!(numbers.len(), 4, "each part is an array");
}

/// The tasks that each task waits for, directly or not.
fn all_before(tasks: &[ListedTask]) -> Vec<BTreeSet<usize>> {
    let mut before: Vec<BTreeSet<usize>> = Vec::new();
    for task in tasks {
        let of_others = task.after.iter().flat_map(|&other| before[other].clone());
        before.push(of_others.chain(task.after.iter().copied()).collect());
    }
    before
}

/// The same by the steps of the listing, of which tasks are some: the others pass on what they wait for.
fn all_before_by_steps(listing: &Listing, is_task: &[bool]) -> Vec<BTreeSet<usize>> {
    let mut before = vec![BTreeSet::new(); is_task.len()];
    let mut edges = listing.edges();
    edges.sort_unstable_by_key(|&(_, to)| to);
    for (from, to) in edges {
        let more: Vec<usize> = before[from].iter().copied().chain([from]).collect();
        before[to].extend(more);
    }
    let mut numbers = vec![None; is_task.len()];
    (0..is_task.len())
        .filter(|&step| is_task[step])
        .enumerate()
        .for_each(|(task, step)| numbers[step] = Some(task));
    let tasks = (0..is_task.len()).filter(|&step| is_task[step]);
    tasks.map(|step| before[step].iter().filter_map(|&other| numbers[other]).collect()).collect()
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn tasks_wait_for_what_their_steps_wait_for(actions in actions(), passes in any::<bool>()) {
        let passes = if passes { Passes::all() } else { Passes::none() };
        let listing = recorded(&actions, passes, &[]).expect("it is right");
        let tasks = listing.listed_tasks().expect("there is no branch");
        prop_assert_eq!(tasks.len(), listing.tasks());
        for (place, task) in tasks.iter().enumerate() {
            prop_assert!(task.after.iter().all(|&before| before < place));
            prop_assert!(task.bytes >= 0.0 && task.flops.is_none());
        }
        let is_task: Vec<bool> = listing.rows().iter().map(|row| row.codelet.is_some()).collect();
        prop_assert_eq!(all_before(&tasks), all_before_by_steps(&listing, &is_task));
        // Tasks that use one array, of which one changes it, have an order, whatever the workers.
        let before = all_before(&tasks);
        for (place, task) in tasks.iter().enumerate() {
            for (earlier, other) in tasks[..place].iter().enumerate() {
                let is_shared = task.arrays.iter().any(|used| {
                    other.arrays.iter().any(|own| own.array == used.array && (own.writes || used.writes))
                });
                prop_assert!(!is_shared || before[place].contains(&earlier), "{earlier} and {place}");
            }
        }
    }
}

#[test]
fn the_tasks_of_a_reduction_are_named_after_their_kernels() -> Result<()> {
    let listing =
        recorded(&[Action::Reduce(Reduction::Sum, 0, 0, 9), Action::FinalizeTotal(0)], Passes::none(), &[])?;
    let tasks = listing.listed_tasks().expect("there is no branch");
    let count = |name: &str| tasks.iter().filter(|task| task.codelet == name).count();
    // Nine contributions are three leaves of up to four.
    assert!(count("fold") >= 1 && count("finish") == 1, "{tasks:#?}");
    assert_eq!(tasks.len() - count("fold") - count("finish"), 9, "{tasks:#?}");
    Ok(())
}
