//! The search alone: elsewhere the heuristics solve most small instances before it.

use proptest::prelude::*;

use super::super::instance::Instance;
use super::tree::{Outcome, Tree};
use super::{Search, order};

/// Buffers that fill a block at all times, if offsets did not matter.
fn tight(most: usize) -> impl Strategy<Value = Instance> {
    let choices = proptest::collection::vec((0_usize..8, 1_usize..6, 1_u64..4), 1..=most);
    (4_usize..=8, 3_u64..=8, choices).prop_map(|(times, full, choices)| {
        let mut room = vec![full; times];
        let (mut lifetimes, mut sizes) = (Vec::new(), Vec::new());
        for (start, length, size) in choices {
            let open = (0..times).map(|i| (start + i) % times).find(|&time| room[time] > 0);
            let Some(lower) = open else { break };
            let size = size.min(room[lower]);
            let end = (lower + length).min(times);
            let upper = (lower..end).find(|&time| room[time] < size).unwrap_or(end);
            room[lower..upper].iter_mut().for_each(|room| *room -= size);
            lifetimes.push((lower, upper));
            sizes.push(size);
        }
        let lengths = lifetimes.iter().map(|(lower, upper)| (upper - lower) as u64).collect();
        Instance::new(&lifetimes, sizes, lengths)
    })
}

fn overlap(instance: &Instance, a: usize, b: usize) -> bool {
    instance.first[a] < instance.last[b] && instance.first[b] < instance.last[a]
}

/// The least peak of all orders in which each buffer is put on top of those before it, by increasing offset.
fn least_peak(instance: &Instance, placed: &mut Vec<(u64, usize)>, best: &mut u64) {
    let top = |&(offset, buffer): &(u64, usize)| offset + instance.size[buffer];
    if placed.iter().map(top).max() >= Some(*best) || *best == instance.lower_bound() {
        return;
    }
    if placed.len() == instance.buffers() {
        *best = placed.iter().map(top).max().unwrap_or(0);
    }
    for buffer in 0..instance.buffers() {
        if placed.iter().all(|&(_, other)| other != buffer) {
            let below = placed.iter().filter(|(_, other)| overlap(instance, buffer, *other));
            let offset = below.map(top).max().unwrap_or(0);
            if placed.last().is_none_or(|last| *last < (offset, buffer)) {
                placed.push((offset, buffer));
                least_peak(instance, placed, best);
                placed.pop();
            }
        }
    }
}

/// Requires an allocation at the optimum, and a proof that there is none below it.
fn is_decided(instance: &Instance, optimum: u64, search: impl Fn(u64) -> (Outcome, Vec<usize>)) {
    let (outcome, order) = search(optimum);
    let Outcome::Found(offsets) = outcome else { panic!("{optimum}: {outcome:?} of {instance:?}") };
    let offsets = super::in_order(&order, &offsets);
    assert!(instance.peak(&offsets) <= optimum);
    for a in 0..instance.buffers() {
        for b in 0..a {
            let is_apart =
                offsets[a] + instance.size[a] <= offsets[b] || offsets[b] + instance.size[b] <= offsets[a];
            assert!(is_apart || !overlap(instance, a, b), "{a} and {b} at {offsets:?} of {instance:?}");
        }
    }
    assert_eq!(search(optimum - 1).0, Outcome::Infeasible, "{instance:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn each_order_decides(instance in tight(9), seed in 1_u64..1000) {
        let mut optimum = u64::MAX;
        least_peak(&instance, &mut Vec::new(), &mut optimum);
        let conflicts: Vec<u64> = (0..instance.sections() as u64).collect();
        let random = [seed, seed + 1].map(|seed| order::random(&instance, &conflicts, seed));
        for order in order::orders(&instance).into_iter().chain(random) {
            is_decided(&instance, optimum, |capacity| {
                let mut tree = Tree::new(instance.permuted(&order), capacity);
                (tree.run(u64::MAX, &mut || false), order.clone())
            });
        }
        is_decided(&instance, optimum, |capacity| {
            let outcome = Search::new(&instance, capacity).run(u64::MAX, &mut || false);
            (outcome, (0..instance.buffers()).collect())
        });
    }

    /// Of instances too large for all orders, all static orders say the same.
    #[test]
    fn orders_agree(instance in tight(16), above in 0_u64..2, seed in 1_u64..1000) {
        let capacity = instance.lower_bound() + above;
        let random = (seed..seed + 4).map(|seed| order::random(&instance, &vec![0; instance.sections()], seed));
        let decided = order::orders(&instance).into_iter().chain(random).map(|order| {
            let outcome = Tree::new(instance.permuted(&order), capacity).run(u64::MAX, &mut || false);
            matches!(outcome, Outcome::Found(_))
        });
        let decided: Vec<bool> = decided.collect();
        prop_assert!(decided.iter().all(|one| *one == decided[0]), "{:?} of {:?}", decided, instance);
    }
}
