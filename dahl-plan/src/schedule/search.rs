//! The exact search: branch and bound over schedules in the order of starts, depth first.

use super::goal::Goal;
use super::remembered::Remembered;
use super::state::State;

/// What the search did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    /// The schedules of some of the tasks that were looked at.
    pub(super) states: u64,
    /// The least bound of those that were not.
    pub(super) open: Option<u64>,
}

/// Looks for the best schedule, in at most so many partial ones.
pub(super) fn search(
    goal: &mut Goal<'_>,
    root: &State,
    states: u64,
    remembered: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Outcome {
    let mut search = Search {
        outcome: Outcome { states: 0, open: None },
        most: states,
        remembered: Remembered::new(goal, remembered),
        stop,
    };
    if let Some(bound) = goal.bound(root) {
        search.visit(goal, root, bound);
    }
    search.outcome
}

struct Search<'a> {
    outcome: Outcome,
    most: u64,
    remembered: Remembered,
    stop: &'a mut dyn FnMut() -> bool,
}

impl Search<'_> {
    fn is_over(&mut self) -> bool {
        self.outcome.states >= self.most || (self.outcome.states.is_multiple_of(256) && (self.stop)())
    }

    fn leave(&mut self, bound: u64) {
        self.outcome.open = Some(self.outcome.open.map_or(bound, |open| open.min(bound)));
    }

    /// Looks at all completions of a schedule that may be better than the best.
    fn visit(&mut self, goal: &mut Goal<'_>, state: &State, bound: u64) {
        if !goal.improves(bound) {
            return;
        }
        if state.is_complete() {
            return goal.offer(state);
        }
        if self.outcome.open.is_some() || self.is_over() {
            return self.leave(bound);
        }
        self.outcome.states += 1;
        if !self.remembered.is_new(goal.model, state) {
            return;
        }
        let forbids = !goal.model.is_limited();
        let rated = state.next(goal.model, forbids).into_iter().filter_map(|next| {
            let bound = goal.bound(&next)?.max(bound);
            let (step, _) = *next.steps.last().expect("it has one more task");
            Some((bound, step.start, std::cmp::Reverse(goal.bounds.tail(step.task, step.one)), next))
        });
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by_key(|(bound, start, tail, _)| (*bound, *start, *tail));
        for (bound, _, _, next) in rated {
            self.visit(goal, &next, bound);
        }
    }
}
