//! [`Restarts`]: short searches in random orders.

use super::super::instance::Instance;
use super::order;
use super::tree::{Outcome, Tree};

/// Searches in one random order after the other. How long a search takes varies by orders of magnitude with the order, so
/// many short ones often find an allocation where a long one does not. Their lengths are Luby's (Luby, Sinclair and
/// Zuckerman, "Optimal Speedup of Las Vegas Algorithms", 1993).
#[derive(Debug)]
pub(super) struct Restarts {
    instance: Instance,
    capacity: u64,
    /// How many searches were begun.
    round: u64,
    /// The present search: its order, its tree, and the steps that it may take.
    present: Option<(Vec<usize>, Tree, u64)>,
    /// The conflicts of all searches, by section.
    conflicts: Vec<u64>,
    /// The steps of all searches that have ended.
    steps: u64,
}

impl Restarts {
    pub(super) fn new(instance: &Instance, capacity: u64) -> Self {
        let conflicts = vec![0; instance.sections()];
        Self { instance: instance.clone(), capacity, round: 0, present: None, conflicts, steps: 0 }
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps + self.present.as_ref().map_or(0, |(_, tree, _)| tree.steps())
    }

    /// Goes on until `steps` have been taken in all.
    pub(super) fn run(&mut self, steps: u64, stop: &mut dyn FnMut() -> bool) -> Outcome {
        while self.steps() < steps && !stop() {
            let (order, mut tree, most) = self.present.take().unwrap_or_else(|| self.begin());
            let outcome = tree.run(most.min(steps - self.steps), stop);
            match outcome {
                Outcome::Found(offsets) => return Outcome::Found(super::in_order(&order, &offsets)),
                Outcome::Infeasible => return Outcome::Infeasible,
                Outcome::OutOfSteps if tree.steps() >= most => {
                    self.steps += tree.steps();
                    let met = self.conflicts.iter_mut().zip(tree.conflicts());
                    met.for_each(|(sum, conflicts)| *sum += conflicts);
                }
                Outcome::OutOfSteps => self.present = Some((order, tree, most)),
            }
        }
        Outcome::OutOfSteps
    }

    fn begin(&mut self) -> (Vec<usize>, Tree, u64) {
        self.round += 1;
        let order = order::random(&self.instance, &self.conflicts, self.round);
        let tree = Tree::new(self.instance.permuted(&order), self.capacity);
        (order, tree, super::steps_to_a_leaf(&self.instance).saturating_mul(luby(self.round)))
    }
}

/// The sequence 1, 1, 2, 1, 1, 2, 4, .., from 1 on.
fn luby(index: u64) -> u64 {
    let above = (index + 1).next_power_of_two();
    match above == index + 1 {
        true => above / 2,
        false => luby(index - (above / 2 - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::luby;

    #[test]
    fn luby_repeats_itself_before_each_power() {
        let first: Vec<_> = (1..16).map(luby).collect();
        assert_eq!(first, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
