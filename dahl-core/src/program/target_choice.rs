//! [`TargetChoice`]: where a program runs on a machine with devices, by measurement.
//!
//! A scheduler that places one task after the other does not see that a small program is done on the CPU before its arguments are on
//! the device, nor that a chain of tasks pays for one copy together. So a program is tried as a whole: as a graph on the
//! device, on the workers of each kind, and as the scheduler places its tasks. The durations that performance models know say which
//! target is tried first, and which are not worth it. The fastest one stays.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::target::Target;

/// Replays on a target that are not counted: arrays come to where it needs them.
const WARM_UP: u32 = 1;

/// Replays on a target that are counted, of which the least is taken.
const SAMPLES: u32 = 2;

/// A target is not tried if it is expected to take so much more than the least time measured.
const HOPELESS: f64 = 1.25;

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
    /// When the replay began that is measured.
    begun_ns: Option<u64>,
    is_settled: bool,
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
    /// A choice among these; none if there is nothing to choose.
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
            (Some(ns), Target::Any) => ns + ns / 8,
            (Some(ns), Target::Graph | Target::Kind(_)) => ns,
        });
        let state = State { candidates, current: 0, runs: 0, begun_ns: None, is_settled: false };
        (state.candidates.len() > 1).then(|| Self { state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The target of a replay that begins now. `is_possible`: whether it can be used at the moment; if not, the replay is as the
    /// scheduler places its tasks, and not measured.
    pub(super) fn begin(&self, now_ns: u64, is_possible: impl FnOnce(Target) -> bool) -> Target {
        let mut state = self.state();
        let target = state.candidates[state.current].target;
        if !is_possible(target) {
            state.begun_ns = None;
            return Target::Any;
        }
        state.begun_ns = (!state.is_settled).then_some(now_ns);
        target
    }

    /// The replay that runs is not on its target: it is not measured.
    pub(super) fn leave(&self) {
        self.state().begun_ns = None;
    }

    /// A replay has ended.
    pub(super) fn end(&self, now_ns: u64) {
        let mut state = self.state();
        let Some(begun_ns) = state.begun_ns.take() else { return };
        state.runs += 1;
        if state.runs <= WARM_UP {
            return;
        }
        let taken_ns = now_ns.saturating_sub(begun_ns);
        let current = state.current;
        let least = &mut state.candidates[current].least_ns;
        *least = Some(least.map_or(taken_ns, |least| least.min(taken_ns)));
        if state.runs == WARM_UP + SAMPLES {
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
    /// Goes on to the next target that is worth a try, or settles.
    fn go_on(&mut self) {
        let measured = self.candidates.iter().enumerate();
        let measured = measured.filter_map(|(index, candidate)| Some((candidate.least_ns?, index)));
        let (least_ns, fastest) = measured.min().expect("one was measured");
        let is_worth_it = |candidate: &Candidate| {
            let hope = |expected: u64| expected as f64 <= least_ns as f64 * HOPELESS;
            candidate.least_ns.is_none() && candidate.expected_ns.is_none_or(hope)
        };
        let next = self.candidates.iter().position(is_worth_it);
        self.is_settled = next.is_none();
        self.current = next.unwrap_or(fastest);
        self.runs = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, TargetChoice};

    /// Runs replays that take as long as `taken_ns` says, and returns their targets.
    fn targets(choice: &TargetChoice, replays: usize, taken_ns: impl Fn(Target) -> u64) -> Vec<Target> {
        let mut now_ns = 0;
        let replay = |_| {
            let target = choice.begin(now_ns, |_| true);
            now_ns += taken_ns(target);
            choice.end(now_ns);
            target
        };
        (0..replays).map(replay).collect()
    }

    #[test]
    fn each_target_is_tried_and_the_fastest_stays() {
        let all = [Target::Graph, Target::Kind(0), Target::Any];
        let choice = TargetChoice::new(all.map(|target| (target, None))).expect("there are several");
        let taken_ns = |target| if target == Target::Kind(0) { 5 } else { 9 };
        let targets = targets(&choice, 12, taken_ns);
        assert_eq!(targets[..9], [[Target::Graph; 3], [Target::Kind(0); 3], [Target::Any; 3]].concat());
        assert_eq!(targets[9..], [Target::Kind(0); 3]);
        let (current, is_settled, _) = choice.shown();
        assert!(is_settled && current == Target::Kind(0));
    }

    #[test]
    fn what_is_expected_to_be_slow_is_not_tried() {
        let targets_and_ns =
            [(Target::Kind(3), Some(400)), (Target::Kind(0), Some(100)), (Target::Any, Some(130))];
        let choice = TargetChoice::new(targets_and_ns).expect("there are several");
        assert_eq!(targets(&choice, 5, |_| 100), [Target::Kind(0); 5]);
        // Models may be wrong: if the first one is slow, the others are tried.
        let choice = TargetChoice::new(targets_and_ns).expect("there are several");
        let taken_ns = |target| if target == Target::Kind(0) { 500 } else { 200 };
        let targets = targets(&choice, 10, taken_ns);
        assert_eq!(targets[3..6], [Target::Any; 3]);
        assert_eq!(targets[9], Target::Any);
    }

    #[test]
    fn a_kind_of_workers_comes_before_a_scheduler_that_gains_little() {
        let choice = TargetChoice::new([(Target::Kind(0), Some(100)), (Target::Any, Some(95))])
            .expect("there are two");
        assert_eq!(choice.begin(0, |_| true), Target::Kind(0));
        let choice = TargetChoice::new([(Target::Kind(0), Some(100)), (Target::Any, Some(80))])
            .expect("there are two");
        assert_eq!(choice.begin(0, |_| true), Target::Any);
    }

    #[test]
    fn a_replay_that_is_elsewhere_is_not_measured() {
        let both = [(Target::Graph, Some(1)), (Target::Any, None)];
        let choice = TargetChoice::new(both).expect("there are two");
        for now_ns in 0..10 {
            assert_eq!(choice.begin(now_ns, |_| false), Target::Any);
            choice.end(now_ns + 1);
        }
        assert_eq!(choice.begin(20, |_| true), Target::Graph);
        choice.leave();
        choice.end(30);
        assert!(choice.shown().2.iter().all(|candidate| candidate.least_ns.is_none()));
    }

    #[test]
    fn nothing_is_chosen_of_one() {
        assert!(TargetChoice::new([(Target::Any, None)]).is_none());
    }
}
