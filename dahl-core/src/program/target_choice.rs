//! [`TargetChoice`]: where a program runs on a machine with devices, by measurement.
//!
//! A scheduler that places one task after the other does not see that a small program is done on the CPU before its arguments are on
//! the device, nor that a chain of tasks pays for one copy together. So a program is tried as a whole: as a graph on the
//! device, on the workers of each kind, and as the scheduler places its tasks. The durations that performance models know say which
//! target is tried first, and which are not worth it. The fastest one stays.

use std::sync::PoisonError;

use super::target::Target;
use crate::sync::{Mutex, MutexGuard};

/// Replays on a target that are not counted: arrays come to where it needs them.
const WARM_UP: u32 = 1;

/// Replays on a target that are counted, of which the least is taken.
const SAMPLES: u32 = 2;

/// A target is not tried if it is expected to take so much more than the least time measured.
const HOPELESS: f64 = 1.25;

/// A target whose first replay takes so many times the least time measured is not tried again.
const MUCH_SLOWER: u64 = 4;

/// The targets of a program, and which one it uses.
#[derive(Debug)]
pub(super) struct TargetChoice {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    candidates: Vec<Candidate>,
    current: usize,
    /// Replays on the current one since it was chosen.
    runs: u32,
    /// The replay that is measured.
    begun: Option<Moment>,
    is_settled: bool,
}

/// What was so when a replay began or ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) time_ns: u64,
    /// How many tasks of the runtime have failed or were cancelled. A replay in which some do is not measured: it is over early.
    pub(super) lost_tasks: u64,
}

/// A target, and how long a replay takes there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) target: Target,
    /// What models expect.
    pub(super) expected_ns: Option<u64>,
    /// The least that was measured.
    pub(super) least_ns: Option<u64>,
}

impl TargetChoice {
    /// A choice among these, of which the last is [`Target::Any`]; none if there is nothing to choose.
    pub(super) fn new(targets: impl IntoIterator<Item = (Target, Option<u64>)>) -> Option<Self> {
        let candidates = targets.into_iter().map(|(target, expected_ns)| Candidate {
            target,
            expected_ns,
            least_ns: None,
        });
        let mut candidates: Vec<_> = candidates.collect();
        // What is expected to be fast comes first, then what is not known, in the order in which they are given. A scheduler may place
        // tasks worse than the forecast does, so it must be expected to gain something.
        candidates.sort_by_key(|candidate| match (candidate.expected_ns, candidate.target) {
            (None, _) => u64::MAX,
            (Some(ns), Target::Any) => ns.saturating_add(ns / 8),
            (Some(ns), Target::Graph | Target::Kind(_)) => ns,
        });
        let state = State { candidates, current: 0, runs: 0, begun: None, is_settled: false };
        (state.candidates.len() > 1).then(|| Self { state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target of a replay that begins now. One that `is_possible` refuses is out for good: its device is lost, or does not take
    /// the program.
    pub(super) fn begin(&self, now: Moment, is_possible: impl Fn(Target) -> bool) -> Target {
        let mut state = self.state();
        loop {
            let target = state.candidates[state.current].target;
            if target == Target::Any || is_possible(target) {
                state.begun = (!state.is_settled).then_some(now);
                return target;
            }
            state.remove_current();
        }
    }

    /// The replay that runs is not on its target: it is not measured.
    pub(super) fn leave(&self) {
        self.state().begun = None;
    }

    /// A replay has ended.
    pub(super) fn end(&self, now: impl FnOnce() -> Moment) {
        let mut state = self.state();
        let Some(begun) = state.begun.take() else { return };
        let now = now();
        if now.lost_tasks != begun.lost_tasks {
            return;
        }
        let taken_ns = now.time_ns.saturating_sub(begun.time_ns);
        state.runs += 1;
        let is_much_slower = state.fastest().is_some_and(|(least_ns, _)| taken_ns / MUCH_SLOWER > least_ns);
        if state.runs <= WARM_UP && !is_much_slower {
            return;
        }
        let current = state.current;
        let least = &mut state.candidates[current].least_ns;
        *least = Some(least.map_or(taken_ns, |least| least.min(taken_ns)));
        if state.runs == WARM_UP + SAMPLES || is_much_slower {
            state.go_on();
        }
    }

    /// The target that is used now, whether it was chosen for good, and what is known of all.
    pub(super) fn shown(&self) -> (Target, bool, Vec<Candidate>) {
        let state = self.state();
        (state.candidates[state.current].target, state.is_settled, state.candidates.clone())
    }
}

impl State {
    /// The least time that was measured, and where.
    fn fastest(&self) -> Option<(u64, usize)> {
        let measured = self.candidates.iter().enumerate();
        measured.filter_map(|(index, candidate)| Some((candidate.least_ns?, index))).min()
    }

    /// Goes on to the next target that is worth a try, or settles.
    fn go_on(&mut self) {
        let fastest = self.fastest();
        let is_worth_it = |candidate: &Candidate| {
            let hope = |expected: u64| {
                fastest.is_none_or(|(least_ns, _)| expected as f64 <= least_ns as f64 * HOPELESS)
            };
            candidate.least_ns.is_none() && candidate.expected_ns.is_none_or(hope)
        };
        let next = self.candidates.iter().position(is_worth_it).filter(|_| self.candidates.len() > 1);
        self.is_settled = next.is_none();
        self.current = next.or(fastest.map(|(_, index)| index)).unwrap_or(0);
        self.runs = 0;
    }

    /// The current target is impossible: goes on without it.
    fn remove_current(&mut self) {
        self.candidates.remove(self.current);
        self.begun = None;
        self.go_on();
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Target, TargetChoice};

    fn at(time_ns: u64) -> Moment {
        Moment { time_ns, lost_tasks: 0 }
    }

    /// Runs replays that take as long as `taken_ns` says, and returns their targets.
    fn targets(choice: &TargetChoice, replays: usize, taken_ns: impl Fn(Target) -> u64) -> Vec<Target> {
        let mut now_ns = 0;
        let replay = |_| {
            let target = choice.begin(at(now_ns), |_| true);
            now_ns += taken_ns(target);
            choice.end(|| at(now_ns));
            target
        };
        (0..replays).map(replay).collect()
    }

    fn choice<const N: usize>(targets: [(Target, Option<u64>); N]) -> TargetChoice {
        TargetChoice::new(targets).expect("there are several")
    }

    #[test]
    fn each_target_is_tried_and_the_fastest_stays() {
        let choice = choice([Target::Graph, Target::Kind(0), Target::Any].map(|target| (target, None)));
        let taken_ns = |target| if target == Target::Kind(0) { 5 } else { 9 };
        let targets = targets(&choice, 12, taken_ns);
        assert_eq!(targets[..9], [[Target::Graph; 3], [Target::Kind(0); 3], [Target::Any; 3]].concat());
        assert_eq!(targets[9..], [Target::Kind(0); 3]);
        let (current, is_settled, _) = choice.shown();
        assert!(is_settled && current == Target::Kind(0));
    }

    #[test]
    fn what_is_expected_to_be_slow_is_not_tried() {
        let of = [(Target::Kind(3), Some(400)), (Target::Kind(0), Some(100)), (Target::Any, Some(130))];
        assert_eq!(targets(&choice(of), 5, |_| 100), [Target::Kind(0); 5]);
        // Models may be wrong: if the first one is slow, the others are tried.
        let taken_ns = |target| if target == Target::Kind(0) { 500 } else { 200 };
        let targets = targets(&choice(of), 10, taken_ns);
        assert_eq!(targets[3..6], [Target::Any; 3]);
        assert_eq!(targets[9], Target::Any);
    }

    #[test]
    fn a_kind_of_workers_comes_before_a_scheduler_that_gains_little() {
        let first = |any_ns| {
            choice([(Target::Kind(0), Some(100)), (Target::Any, Some(any_ns))]).begin(at(0), |_| true)
        };
        assert_eq!(first(95), Target::Kind(0));
        assert_eq!(first(80), Target::Any);
    }

    #[test]
    fn a_target_that_is_much_slower_is_tried_once() {
        let choice = choice([(Target::Graph, None), (Target::Kind(0), None), (Target::Any, Some(1000))]);
        let taken_ns = |target| if target == Target::Graph { 10 } else { 1000 };
        let targets = targets(&choice, 6, taken_ns);
        let expected = [&[Target::Any; 3][..], &[Target::Graph; 3]].concat();
        assert_eq!(targets, expected);
        let rest: Vec<_> = (0..3)
            .map(|_| {
                let target = choice.begin(at(0), |_| true);
                choice.end(|| at(taken_ns(target)));
                target
            })
            .collect();
        assert_eq!(rest, [Target::Kind(0), Target::Graph, Target::Graph]);
    }

    #[test]
    fn a_replay_that_fails_or_is_elsewhere_is_not_measured() {
        let choice = choice([(Target::Graph, Some(1)), (Target::Any, None)]);
        for failure in 0..10 {
            assert_eq!(choice.begin(Moment { time_ns: 0, lost_tasks: failure }, |_| true), Target::Graph);
            choice.end(|| Moment { time_ns: 1, lost_tasks: failure + 1 });
            choice.begin(at(0), |_| true);
            choice.leave();
            choice.end(|| at(1));
        }
        assert!(choice.shown().2.iter().all(|candidate| candidate.least_ns.is_none()));
    }

    #[test]
    fn a_target_that_is_impossible_is_out() {
        let choice = choice([(Target::Graph, Some(1)), (Target::Kind(0), Some(2)), (Target::Any, None)]);
        assert_eq!(choice.begin(at(0), |target| target != Target::Graph), Target::Kind(0));
        // Also after it was chosen.
        let taken_ns = |target| if target == Target::Kind(0) { 5 } else { 9 };
        targets(&choice, 9, taken_ns);
        assert!(matches!(choice.shown(), (Target::Kind(0), true, _)));
        assert_eq!(choice.begin(at(0), |_| false), Target::Any);
        assert!(choice.shown().1, "nothing else is left");
    }

    #[test]
    fn nothing_is_chosen_of_one() {
        assert!(TargetChoice::new([(Target::Any, None)]).is_none());
    }
}
