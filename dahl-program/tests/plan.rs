//! Memory plans: arrays that share memory never live at one time, whatever runs when, and the bounds hold.

use std::collections::HashSet;

use dahl_program::{Effort, Listing, MemoryPlan, Passes};
use proptest::prelude::*;
use serde_json::json;

use crate::listing::{read, recorded, sealed};
use crate::program::actions;
use crate::world::config;

/// A step: the size of the array that it makes, the earlier arrays that it reads, and one that it changes; each modulo their
/// number.
type Made = (usize, Vec<usize>, Option<usize>);

fn steps(most: usize) -> impl Strategy<Value = Vec<Made>> {
    let reads = prop::collection::vec(any::<usize>(), 0..4);
    let changes = prop::option::weighted(0.2, any::<usize>());
    prop::collection::vec((1..40_usize, reads, changes), 1..most)
}

/// The listing of a program that has these steps, and their uses of arrays: argument 0, and one of each step.
fn program(steps: &[Made]) -> (Listing, Vec<Vec<(usize, bool)>>) {
    let mut arrays = vec![json!({
        "name": "x", "element": "u8", "extents": [1], "bytes": 1, "origin": {"argument": 0}
    })];
    let (mut listed, mut uses) = (Vec::new(), Vec::new());
    for (size, reads, changes) in steps {
        let made = arrays.len();
        let bytes = 64 * size;
        arrays.push(json!({"element": "u8", "extents": [bytes], "bytes": bytes, "origin": "temporary"}));
        let mut used: Vec<(usize, bool)> = reads.iter().map(|read| (read % made, false)).collect();
        used.extend(changes.map(|change| (change % made, true)));
        used.sort_unstable();
        used.dedup_by_key(|(array, _)| *array);
        let view = json!({"mode": "R", "offset": 0, "extents": [1], "strides": [1]});
        let listed_use = |(array, writes): (usize, bool), reads| json!({"array": array, "reads": reads, "writes": writes, "view": view});
        let mut all: Vec<_> = used.iter().map(|&used| listed_use(used, true)).collect();
        all.push(listed_use((made, true), false));
        let action = json!({"task": {"codelet": 0, "form": "call"}});
        listed.push(json!({"action": action, "uses": all, "source": format!("step {made}")}));
        used.push((made, true));
        uses.push(used);
    }
    let codelet = json!({
        "module": "m", "name": "c", "declaration": "0000000000000001", "parameters": [], "arguments": []
    });
    let rest = json!({"name": "made", "codelets": [codelet], "arrays": arrays, "steps": listed}).to_string();
    (read(sealed(&rest[1..])).expect("it is one"), uses)
}

/// The least peak of all orders, by trying each.
fn least(uses: &[Vec<(usize, bool)>], sizes: &[usize], done: &mut Vec<usize>, best: &mut usize) {
    if done.len() == uses.len() {
        let place = |array: usize| {
            let steps = (0..done.len()).filter(|&at| uses[done[at]].iter().any(|(used, _)| *used == array));
            let steps: Vec<usize> = steps.collect();
            Some((*steps.first()?, *steps.last()?))
        };
        let lifetimes: Vec<_> = (1..=sizes.len()).map(|array| place(array).expect("it is made")).collect();
        let live = |at: usize| {
            let lives =
                lifetimes.iter().zip(sizes).filter(|((first, last), _)| (*first..=*last).contains(&at));
            lives.map(|(_, size)| 64 * size).sum::<usize>()
        };
        *best = (*best).min((0..done.len()).map(live).max().unwrap_or(0));
        return;
    }
    for step in (0..uses.len()).filter(|step| !done.contains(step)).collect::<Vec<_>>() {
        // It waits for earlier steps that use one of its arrays, if one of the two changes it.
        let waits = |earlier: usize| {
            uses[earlier].iter().any(|(array, writes)| {
                uses[step].iter().any(|(used, changes)| used == array && (*writes || *changes))
            })
        };
        if (0..step).all(|earlier| !waits(earlier) || done.contains(&earlier)) {
            done.push(step);
            least(uses, sizes, done, best);
            done.pop();
        }
    }
}

/// For each step: those that come after it by these edges, directly or not.
fn later(steps: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<HashSet<usize>> {
    let mut after = vec![Vec::new(); steps];
    edges.for_each(|(earlier, later)| after[earlier].push(later));
    let mut later = vec![HashSet::new(); steps];
    for step in (0..steps).rev() {
        for &next in &after[step] {
            let further = later[next].clone();
            later[step].insert(next);
            later[step].extend(further);
        }
    }
    later
}

/// Checks a plan without its planner: of two arrays that share a byte, all steps with the one wait for all with the other,
/// by the edges of the program and of the plan.
fn check(listing: &Listing, plan: &MemoryPlan) {
    let edges = listing.edges().into_iter().chain(plan.extra_edges().iter().copied());
    let later = later(listing.steps(), edges);
    let places = plan.places();
    for (index, one) in places.iter().enumerate() {
        assert_eq!(plan.offset(one.array), Some(one.offset));
        assert!(one.offset + one.bytes <= plan.peak_bytes() && one.offset % 64 == 0, "{plan}");
        for other in &places[index + 1..] {
            let is_apart = one.offset + one.bytes <= other.offset || other.offset + other.bytes <= one.offset;
            let (steps, other_steps) = (listing.steps_with(one.array), listing.steps_with(other.array));
            let precedes = |earlier: &[usize], next: &[usize]| {
                earlier.iter().all(|&step| next.iter().all(|next| later[step].contains(next)))
            };
            let takes_turns = precedes(&steps, &other_steps) || precedes(&other_steps, &steps);
            assert!(
                is_apart || takes_turns,
                "{} and {} overlap in {plan}\n{listing}",
                one.label,
                other.label
            );
        }
    }
    // The bytes that live at the worst step, which no plan for this order goes below.
    let live = |step| {
        let lives = places.iter().filter(|place| (place.lifetime.0..=place.lifetime.1).contains(&step));
        lives.map(|place| place.bytes).sum::<usize>()
    };
    let live = (0..listing.steps()).map(live).max().unwrap_or(0);
    assert!(live <= plan.lower_bound_bytes() && plan.lower_bound_bytes() <= plan.peak_bytes(), "{plan}");
    assert!(plan.least_bytes() <= live && plan.peak_bytes() <= plan.sum_bytes(), "{plan}");
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn arrays_that_share_memory_take_turns(actions in actions(), passes in any::<bool>()) {
        let passes = if passes { Passes::all() } else { Passes::none() };
        check_both(&recorded(&actions, passes, &[]).expect("it is right"));
    }

    #[test]
    fn arrays_of_any_sizes_that_share_memory_take_turns(steps in steps(40)) {
        check_both(&program(&steps).0);
    }

    #[test]
    fn no_order_needs_less_than_the_least(steps in steps(7)) {
        let (mut listing, uses) = program(&steps);
        let sizes: Vec<usize> = steps.iter().map(|(size, ..)| *size).collect();
        let mut best = usize::MAX;
        least(&uses, &sizes, &mut Vec::new(), &mut best);
        let plan = listing.plan_tightly(&Effort::default());
        prop_assert_eq!(plan.least_bytes(), best, "{}\n{}", plan, listing);
        prop_assert!(plan.lower_bound_bytes() >= best);
    }
}

/// Checks the plan for any order, and the tight one.
fn check_both(listing: &Listing) {
    let ordered = listing.memory_plan();
    check(listing, &ordered);
    let mut reordered = listing.clone();
    let tight = reordered.plan_tightly(&Effort { steps: 1_000_000, beam: 8, states: 2000 });
    check(&reordered, &tight);
    // The same steps, with the same dependencies.
    let lines = |listing: &Listing| {
        let mut lines: Vec<_> = listing.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
        lines.sort();
        lines
    };
    assert_eq!(lines(&reordered), lines(listing));
    assert_eq!(reordered.edges().len(), listing.edges().len());
}

/// In the order of the recording four large arrays live at one time; in a better one, one.
#[test]
fn an_order_with_little_memory_is_found_and_named() {
    let wide = (1..=4).map(|_| (100, vec![0], None));
    let small = (1..=4).map(|read| (1, vec![read], None));
    let steps: Vec<Made> = wide.chain(small).chain([(1, vec![5, 6, 7, 8], None)]).collect();
    let (mut listing, _) = program(&steps);
    assert_eq!(listing.memory_plan().peak_bytes(), 4 * 64 * 100 + 4 * 64);
    let plan = listing.plan_tightly(&Effort::default());
    assert_eq!(plan.peak_bytes(), 64 * 100 + 4 * 64, "{plan}");
    assert_eq!((plan.least_bytes(), plan.is_optimal()), (plan.peak_bytes(), true));
    assert!(plan.to_string().contains("bytes at most, the least possible; 9 arrays"), "{plan}");
    assert!(!plan.extra_edges().is_empty(), "the order is a part of the program");
}
