//! The exact search: whether buffers fit into a capacity.
//!
//! [`Search`] goes on in turn with one [`tree::Tree`] for each static order of the buffers, which will end with an
//! allocation or a proof, and with [`restarts::Restarts`], which find allocations sooner.

mod failed;
mod order;
mod restarts;
mod state;
#[cfg(test)]
mod tests;
mod tree;

use restarts::Restarts;
pub(super) use tree::Outcome;
use tree::Tree;

use super::instance::Instance;

/// A search at one capacity, which can be interrupted and continued.
#[derive(Debug)]
pub(super) struct Search {
    trees: Vec<(Vec<usize>, Tree)>,
    restarts: Restarts,
    /// The steps that each tree may have taken in all after this round.
    limit: u64,
}

impl Search {
    pub(super) fn new(instance: &Instance, capacity: u64) -> Self {
        let trees = order::orders(instance).map(|order| {
            let tree = Tree::new(instance.permuted(&order), capacity);
            (order, tree)
        });
        let restarts = Restarts::new(instance, capacity);
        Self { trees: trees.into(), restarts, limit: steps_to_a_leaf(instance) }
    }

    /// The steps taken so far.
    pub(super) fn steps(&self) -> u64 {
        self.trees.iter().map(|(_, tree)| tree.steps()).sum::<u64>() + self.restarts.steps()
    }

    /// Goes on until `steps` have been taken in all, or `stop` says so. Each order gets the same share, and the restarts as
    /// much as all of them; then twice as much, and so on.
    pub(super) fn run(&mut self, steps: u64, stop: &mut dyn FnMut() -> bool) -> Outcome {
        loop {
            for index in 0..self.trees.len() {
                let left = steps.saturating_sub(self.steps());
                let (order, tree) = &mut self.trees[index];
                match tree.run(self.limit.min(tree.steps() + left), stop) {
                    Outcome::Found(offsets) => return Outcome::Found(in_order(order, &offsets)),
                    Outcome::Infeasible => return Outcome::Infeasible,
                    Outcome::OutOfSteps => {}
                }
            }
            let left = steps.saturating_sub(self.steps());
            let limit = self.limit.saturating_mul(self.trees.len() as u64);
            match self.restarts.run(limit.min(self.restarts.steps() + left), stop) {
                Outcome::OutOfSteps => {}
                ended => return ended,
            }
            if self.steps() >= steps || stop() {
                return Outcome::OutOfSteps;
            }
            self.limit = self.limit.saturating_mul(2);
        }
    }
}

/// The offsets of the buffers, from those of the buffers in this order.
fn in_order(order: &[usize], offsets: &[u64]) -> Vec<u64> {
    let mut found = vec![0; offsets.len()];
    order.iter().zip(offsets).for_each(|(&buffer, &offset)| found[buffer] = offset);
    found
}

/// Steps within which a search surely comes to a leaf if nothing fails, and somewhat beyond.
fn steps_to_a_leaf(instance: &Instance) -> u64 {
    6 * (instance.buffers() as u64).pow(2) + instance.memberships()
}
