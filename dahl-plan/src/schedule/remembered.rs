//! [`Remembered`]: schedules of some of the tasks whose completions have been looked at.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use super::goal::Goal;
use super::model::Model;
use super::state::{NEVER, State};

/// The most schedules that are remembered for one set of tasks.
const EACH: usize = 12;

/// Schedules by the tasks that they have and the places of the arrays that are still read.
///
/// A schedule is left out if one with the same tasks and places was looked at that is no later anywhere, has no more energy,
/// and keeps no task from a type that this one may use. Each completion of it is one of the other, with starts that are no
/// later. Sets are compared by a hash of 128 bits.
#[derive(Debug)]
pub(super) struct Remembered {
    by_key: HashMap<u128, Vec<Times>>,
    left: usize,
    with_energy: bool,
    is_limited: bool,
}

/// What completions depend on.
#[derive(Debug)]
struct Times {
    /// When workers are free and arrays are at nodes, none before the last start.
    times: Box<[u64]>,
    energy: i64,
    /// For each task that is not scheduled, the types that it is kept from.
    forbidden: Box<[u64]>,
}

impl Remembered {
    pub(super) fn new(goal: &Goal<'_>, most: usize) -> Self {
        Self {
            by_key: HashMap::new(),
            left: most,
            with_energy: goal.is_energy(),
            // What is in memory, and until when, is not compared.
            is_limited: goal.model.is_limited(),
        }
    }

    /// Whether no schedule that was asked for before is at least as good everywhere. This one is remembered then.
    pub(super) fn is_new(&mut self, model: &Model, state: &State) -> bool {
        if self.is_limited {
            return true;
        }
        let (key, new) = self.describe(model, state);
        let all = self.by_key.entry(key).or_default();
        let is_as_good = |old: &Times| {
            old.energy <= new.energy
                && old.times.iter().zip(&new.times).all(|(old, new)| old <= new)
                && old.forbidden.iter().zip(&new.forbidden).all(|(old, new)| old & !new == 0)
        };
        if all.iter().any(is_as_good) {
            return false;
        }
        let before = all.len();
        let is_worse = |old: &Times| {
            new.energy <= old.energy
                && new.times.iter().zip(&old.times).all(|(new, old)| new <= old)
                && new.forbidden.iter().zip(&old.forbidden).all(|(new, old)| new & !old == 0)
        };
        all.retain(|old| !is_worse(old));
        self.left += before - all.len();
        if all.len() < EACH && self.left > 0 {
            self.left -= 1;
            all.push(new);
        }
        true
    }

    fn describe(&self, model: &Model, state: &State) -> (u128, Times) {
        let mut key = Key::default();
        state
            .end
            .iter()
            .enumerate()
            .filter(|(_, end)| **end != NEVER)
            .for_each(|(task, _)| key.add(task as u64));
        key.add(u64::MAX);
        let mut times = Vec::with_capacity(state.free.len() + 8);
        for kind in &model.types {
            let begin = times.len();
            times.extend(kind.workers.iter().map(|&worker| state.free[worker].max(state.time)));
            times[begin..].sort_unstable();
        }
        for array in 0..model.arrays.len() {
            let is_there = state.present[array] != 0;
            if !is_there || state.readers[array] == 0 {
                continue;
            }
            let origin = state.origin(model, array).0;
            key.add(array as u64);
            key.add(origin as u64);
            if self.with_energy {
                key.add(state.present[array]);
            }
            if let super::Source::Task(_) = model.arrays[array].source {
                let arrival = |node| state.arrival(model, array, node).unwrap_or(NEVER).max(state.time);
                times.extend((0..model.nodes).map(arrival));
            }
        }
        let open = (0..model.tasks()).filter(|&task| state.end[task] == NEVER);
        let forbidden = open.map(|task| state.forbidden[task]).collect();
        // For the energy the last end counts too, as idle workers wait for it; the workers' times have it.
        let energy = if self.with_energy { state.energy } else { 0 };
        (key.value(), Times { times: times.into(), energy, forbidden })
    }
}

/// A hash of 128 bits.
#[derive(Debug)]
struct Key {
    hashers: [std::hash::DefaultHasher; 2],
}

impl Default for Key {
    fn default() -> Self {
        let fixed = std::hash::BuildHasherDefault::<std::hash::DefaultHasher>::default();
        let mut hashers = [fixed.build_hasher(), fixed.build_hasher()];
        hashers[1].write_u64(1);
        Self { hashers }
    }
}

impl Key {
    fn add(&mut self, value: u64) {
        self.hashers.iter_mut().for_each(|hasher| hasher.write_u64(value));
    }

    fn value(&self) -> u128 {
        let [low, high] = &self.hashers;
        u128::from(high.finish()) << 64 | u128::from(low.finish())
    }
}
