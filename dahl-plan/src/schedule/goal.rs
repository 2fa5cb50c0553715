//! [`Goal`]: the objective, with its bounds and the best schedule so far.

use super::bound::Bounds;
use super::model::Model;
use super::plan::Objective;
use super::state::State;

/// What is looked for, and the best that has been found.
#[derive(Debug)]
pub(super) struct Goal<'a> {
    pub(super) model: &'a Model,
    pub(super) bounds: Bounds,
    objective: Objective,
    pub(super) best: Option<(u64, State)>,
}

impl<'a> Goal<'a> {
    pub(super) fn new(model: &'a Model, objective: Objective) -> Self {
        let deadline = match objective {
            Objective::Time => None,
            Objective::Energy { deadline } => deadline,
        };
        Self { model, bounds: Bounds::new(model, deadline), objective, best: None }
    }

    pub(super) fn is_energy(&self) -> bool {
        matches!(self.objective, Objective::Energy { .. })
    }

    /// What no completion of a schedule goes below: its own value once it is complete. `None` if there is no completion.
    pub(super) fn bound(&self, state: &State) -> Option<u64> {
        let time = self.bounds.time(self.model, state);
        match self.objective {
            _ if time == u64::MAX => None,
            Objective::Time => Some(time),
            Objective::Energy { deadline } if deadline.is_some_and(|deadline| time > deadline) => None,
            Objective::Energy { .. } => Some(self.bounds.energy(self.model, state, time).max(0) as u64),
        }
    }

    /// Whether a value is below that of the best.
    pub(super) fn improves(&self, value: u64) -> bool {
        self.best.as_ref().is_none_or(|(best, _)| value < *best)
    }

    /// Keeps a complete schedule if it is better than the best.
    pub(super) fn offer(&mut self, state: &State) {
        if let Some(value) = self.bound(state).filter(|&value| self.improves(value)) {
            self.best = Some((value, state.clone()));
        }
    }
}
