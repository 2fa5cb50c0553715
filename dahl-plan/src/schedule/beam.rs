//! A beam search: good schedules for problems of any size.

use std::cmp::Reverse;

use super::goal::Goal;
use super::state::State;

/// The most work of a beam: its width times the square of the number of tasks.
const WORK: usize = 150_000;

/// How partial schedules with one bound are compared: by their last steps.
#[derive(Clone, Copy, Debug)]
enum Preference {
    /// Early starts, and then tasks with much after them.
    Start,
    /// Tasks with much after them, and then early ends.
    Rank,
    /// Early ends.
    End,
}

/// Keeps some of the partial schedules of each length that have the lowest bounds, in wider and wider beams.
pub(super) fn search(goal: &mut Goal<'_>, root: &State, stop: &mut dyn FnMut() -> bool) {
    let tasks = goal.model.tasks().max(1);
    for width in [8, 64, 256] {
        if goal.best.is_some() && width * tasks * tasks > WORK {
            break;
        }
        for preference in [Preference::Start, Preference::Rank, Preference::End] {
            if goal.best.is_some() && stop() {
                return;
            }
            beam(goal, root, width, preference);
        }
    }
}

fn beam(goal: &mut Goal<'_>, root: &State, width: usize, preference: Preference) {
    let mut states = vec![root.clone()];
    // With a limit of memory no task is kept from a type, since an earlier start may not fit.
    let forbids = !goal.model.is_limited();
    while states.first().is_some_and(|state| !state.is_complete()) {
        let next = states.iter().flat_map(|state| state.next(goal.model, forbids));
        let rated = next.filter_map(|state| {
            let bound = goal.bound(&state).filter(|&bound| goal.improves(bound))?;
            let (step, _) = *state.steps.last().expect("it has one more task");
            let tail = Reverse(goal.bounds.tail(step.task, step.one));
            let order = match preference {
                Preference::Start => (step.start, tail, step.end),
                Preference::Rank => (0, tail, step.end),
                Preference::End => (step.end, tail, 0),
            };
            Some(((bound, order), state))
        });
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by_key(|(key, _)| *key);
        rated.truncate(width);
        states = rated.into_iter().map(|(_, state)| state).collect();
    }
    for state in &states {
        goal.offer(state);
    }
}
