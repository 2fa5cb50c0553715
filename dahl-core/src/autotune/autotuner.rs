//! [`Autotuner`]: the measurements on which a choice of kernel rests. Their number is bounded.

use arrayvec::ArrayVec;

/// Measurements of each candidate, after its first call.
pub(super) const SAMPLES: usize = 5;
/// Runs of each candidate: its first call, and the measurements.
pub(super) const RUNS: usize = 1 + SAMPLES;
/// A candidate that is so many times slower than the best is not measured again.
const FAR: u64 = 3;

/// Who helps a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Help {
    /// Nobody.
    None,
    /// Workers that are idle when it starts, and others later.
    Idle,
    /// None is idle when it starts; workers that become idle help.
    Late,
}

/// A candidate: a kernel on one core, or with a team of workers.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) kernel: usize,
    pub(super) help: Help,
    /// The number of runs that have begun, and of those that have ended.
    begun: usize,
    ended: usize,
    /// The duration of the first call.
    pub(super) first_ns: Option<u64>,
    /// The durations of the later calls.
    pub(super) samples: ArrayVec<u64, SAMPLES>,
    /// Whether it was dropped for being much slower than another.
    pub(super) is_out: bool,
}

/// The autotuner of one entry: it measures each candidate a few times, and then makes a final choice.
#[derive(Debug)]
pub(super) struct Autotuner {
    pub(super) candidates: Vec<Candidate>,
    /// Whether all kernels give the same bits, so that tasks may use different ones.
    may_mix: bool,
    /// The kernel of all tasks, if they must use the same one.
    fixed: Option<usize>,
    /// Tasks for which [`Help::Idle`] could not be measured since no worker was idle.
    passed: usize,
}

/// The final choices: kernel, and whether it runs with a team.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Decision {
    /// For tasks that start while no other worker is idle.
    pub(super) busy: Option<(usize, bool)>,
    /// For tasks that start while one is.
    pub(super) idle: Option<(usize, bool)>,
}

impl Candidate {
    fn new(kernel: usize, help: Help) -> Self {
        let samples = ArrayVec::new();
        Self { kernel, help, begun: 0, ended: 0, first_ns: None, samples, is_out: false }
    }

    /// Whether it can run a task that starts while another worker is idle, or while none is.
    fn fits(&self, idle: bool) -> bool {
        match self.help {
            Help::None => true,
            Help::Idle => idle,
            Help::Late => !idle,
        }
    }

    /// The median of its measurements, the lower one of two; without measurements, its first call.
    pub(super) fn median_ns(&self) -> Option<u64> {
        let mut samples = self.samples.clone();
        samples.sort_unstable();
        samples.get(samples.len().saturating_sub(1) / 2).copied()
    }

    fn is_done(&self) -> bool {
        self.is_out || self.ended >= RUNS
    }
}

impl Autotuner {
    /// For each kernel a candidate alone, and two with a team if `teams` says that it can have one.
    pub(super) fn new(teams: &[bool], may_mix: bool) -> Self {
        let alone = (0..teams.len()).map(|index| Candidate::new(index, Help::None));
        let with = |help| {
            let with_team = teams.iter().enumerate().filter(|(_, team)| **team);
            with_team.map(move |(index, _)| Candidate::new(index, help))
        };
        let candidates = alone.chain(with(Help::Idle)).chain(with(Help::Late)).collect();
        Self { candidates, may_mix, fixed: None, passed: 0 }
    }

    /// Tasks that it was asked for as long as it was not decided.
    pub(super) fn calls(&self) -> u64 {
        (self.candidates.iter().map(|candidate| candidate.begun).sum::<usize>() + self.passed) as u64
    }

    /// The memory that it takes, beside its own size.
    pub(super) fn bytes(&self) -> usize {
        self.candidates.capacity() * size_of::<Candidate>()
    }

    /// Kernel and team of a candidate.
    pub(super) fn candidate(&self, index: usize) -> (usize, bool) {
        let candidate = &self.candidates[index];
        (candidate.kernel, candidate.help != Help::None)
    }

    /// The candidate for the next task, and whether to measure it: the one with the fewest runs, or the best so far
    /// when all have begun theirs.
    pub(super) fn next(&mut self, idle: bool) -> (usize, bool) {
        let fixed = self.fixed;
        let is_open = |candidate: &Candidate| {
            let is_fixed = fixed.is_none_or(|kernel| kernel == candidate.kernel);
            !candidate.is_out && candidate.begun < RUNS && is_fixed
        };
        let open = self.candidates.iter().enumerate().filter(|(_, candidate)| is_open(candidate));
        let waits_for_team = !idle && open.clone().any(|(_, candidate)| candidate.help == Help::Idle);
        let allowed = open.filter(|(_, candidate)| candidate.fits(idle));
        let next = allowed.min_by_key(|(_, candidate)| candidate.begun).map(|(index, _)| index);
        match next {
            Some(index) => {
                self.candidates[index].begun += 1;
                (index, true)
            }
            None => {
                self.passed += usize::from(waits_for_team);
                (self.best(idle), false)
            }
        }
    }

    /// Records that a run has ended, with its duration unless it failed.
    pub(super) fn end(&mut self, index: usize, time_ns: Option<u64>) {
        let candidate = &mut self.candidates[index];
        candidate.ended += 1;
        match time_ns {
            Some(time_ns) if candidate.first_ns.is_none() => candidate.first_ns = Some(time_ns),
            Some(time_ns) => {
                let _ = candidate.samples.try_push(time_ns);
            }
            None => {}
        }
        self.drop_slow();
    }

    /// Drops candidates that are far slower than the best: those without a team only relative to the best of these, since
    /// one of them must be left. The time of a late team is that of no other, as it depends on who becomes idle.
    fn drop_slow(&mut self) {
        for help in [Help::None, Help::Idle] {
            let rivals =
                self.candidates.iter().filter(|candidate| [Help::None, help].contains(&candidate.help));
            let Some(best_ns) = rivals.filter_map(Candidate::median_ns).min() else { continue };
            for candidate in self.candidates.iter_mut().filter(|candidate| candidate.help == help) {
                candidate.is_out |= candidate.median_ns().is_some_and(|ns| ns > best_ns.saturating_mul(FAR));
            }
        }
    }

    /// The best so far: the shortest median, the first of equal ones; the first candidate if nothing was measured.
    fn best(&self, idle: bool) -> usize {
        let allowed = self.candidates.iter().enumerate().filter(|(_, candidate)| {
            let is_fixed = self.fixed.is_none_or(|kernel| kernel == candidate.kernel);
            !candidate.is_out && is_fixed && candidate.fits(idle)
        });
        let measured = allowed.clone().filter_map(|(index, candidate)| Some((index, candidate.median_ns()?)));
        let best = measured.min_by_key(|&(_, ns)| ns).map(|(index, _)| index);
        // If the only ones of the kernel that all tasks use were dropped, it is still that kernel.
        let of_kernel = |candidate: &Candidate| {
            self.fixed.is_none_or(|kernel| kernel == candidate.kernel) && candidate.fits(idle)
        };
        let first = || self.candidates.iter().position(of_kernel);
        best.or_else(|| allowed.map(|(index, _)| index).next()).or_else(first).unwrap_or(0)
    }

    /// The final choices so far.
    pub(super) fn decide(&mut self) -> Decision {
        let of_fixed = |autotuner: &Self, candidate: &Candidate| {
            autotuner.fixed.is_none_or(|kernel| kernel == candidate.kernel)
        };
        let is_done = |autotuner: &Self, help: &[Help]| {
            let asked =
                |candidate: &&Candidate| help.contains(&candidate.help) && of_fixed(autotuner, candidate);
            autotuner.has_one() || autotuner.candidates.iter().filter(asked).all(Candidate::is_done)
        };
        if !self.may_mix && self.fixed.is_none() {
            let is_over =
                is_done(self, &[Help::None]) && (is_done(self, &[Help::Idle]) || self.passed >= RUNS);
            if !is_over {
                return Decision::default();
            }
            self.fixed = Some(self.candidates[self.best(true)].kernel);
        }
        let choice = |idle: bool, help: Help| {
            is_done(self, &[Help::None, help]).then(|| self.candidate(self.best(idle)))
        };
        Decision { busy: choice(false, Help::Late), idle: choice(true, Help::Idle) }
    }

    /// Whether there is only one candidate.
    fn has_one(&self) -> bool {
        self.candidates.len() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a kernel can have a team.
    const PLAIN: bool = false;
    const TEAM: bool = true;

    /// Runs as many tasks as `tasks`, with durations by kernel and team.
    fn run(
        autotuner: &mut Autotuner,
        tasks: usize,
        idle: bool,
        ns: impl Fn(usize, bool) -> u64,
    ) -> Vec<(usize, bool)> {
        let run = |_| {
            let (index, is_trial) = autotuner.next(idle);
            let (kernel, team) = autotuner.candidate(index);
            if is_trial {
                autotuner.end(index, Some(ns(kernel, team)));
            }
            autotuner.decide();
            (kernel, team)
        };
        (0..tasks).map(run).collect()
    }

    #[test]
    fn each_candidate_runs_six_times_and_then_the_best_alone() {
        let mut autotuner = Autotuner::new(&[PLAIN, PLAIN], false);
        let ran = run(&mut autotuner, 20, false, |kernel, _| [200, 100][kernel]);
        assert_eq!(ran.iter().filter(|&&(kernel, _)| kernel == 0).count(), RUNS);
        assert!(ran[2 * RUNS..].iter().all(|&choice| choice == (1, false)));
        assert_eq!(autotuner.decide(), Decision { busy: Some((1, false)), idle: Some((1, false)) });
    }

    #[test]
    fn what_is_far_slower_runs_twice() {
        let mut autotuner = Autotuner::new(&[PLAIN, PLAIN], false);
        let ran = run(&mut autotuner, 20, false, |kernel, _| [100, 1000][kernel]);
        assert_eq!(ran.iter().filter(|&&(kernel, _)| kernel == 1).count(), 2);
    }

    #[test]
    fn first_calls_and_one_outlier_do_not_count() {
        let mut autotuner = Autotuner::new(&[PLAIN, PLAIN], false);
        let mut runs = [0; 2];
        for _ in 0..2 * RUNS {
            let (index, is_trial) = autotuner.next(false);
            assert!(is_trial);
            runs[index] += 1;
            // The second one is faster, except in its first call and one outlier.
            let ns = if index == 1 && [1, 4].contains(&runs[1]) { 9_000 } else { [200, 100][index] };
            autotuner.end(index, Some(ns));
        }
        assert_eq!(autotuner.decide().busy, Some((1, false)));
    }

    #[test]
    fn a_team_is_taken_when_workers_are_idle_and_it_is_faster() {
        let mut autotuner = Autotuner::new(&[TEAM], true);
        run(&mut autotuner, 20, true, |_, team| if team { 60 } else { 100 });
        assert_eq!(autotuner.decide(), Decision { busy: None, idle: Some((0, true)) });
        let mut autotuner = Autotuner::new(&[TEAM], true);
        run(&mut autotuner, 20, true, |_, team| if team { 150 } else { 100 });
        assert_eq!(autotuner.decide(), Decision { busy: None, idle: Some((0, false)) });
    }

    #[test]
    fn whether_workers_are_idle_at_the_start_is_measured_apart() {
        let mut autotuner = Autotuner::new(&[TEAM], true);
        run(&mut autotuner, 20, false, |_, team| if team { 90 } else { 100 });
        assert_eq!(autotuner.decide(), Decision { busy: Some((0, true)), idle: None });
        run(&mut autotuner, 20, true, |_, team| if team { 110 } else { 100 });
        assert_eq!(autotuner.decide(), Decision { busy: Some((0, true)), idle: Some((0, false)) });
    }

    #[test]
    fn kernels_that_differ_in_bits_are_not_mixed() {
        // The plain one is faster alone, the other one with a team.
        let ns = |kernel: usize, team: bool| {
            if kernel == 0 {
                80
            } else if team {
                60
            } else {
                100
            }
        };
        let mut autotuner = Autotuner::new(&[PLAIN, TEAM], false);
        run(&mut autotuner, 40, true, ns);
        assert_eq!(autotuner.decide(), Decision { busy: None, idle: Some((1, true)) });
        // No worker is ever idle: the plain one is chosen finally.
        let mut autotuner = Autotuner::new(&[PLAIN, TEAM], false);
        run(&mut autotuner, 40, false, ns);
        run(&mut autotuner, 40, true, ns);
        assert_eq!(autotuner.decide(), Decision { busy: Some((0, false)), idle: Some((0, false)) });
        // With kernels of the same bits, the choice remains open for idle workers.
        let mut autotuner = Autotuner::new(&[PLAIN, TEAM], true);
        run(&mut autotuner, 40, false, |kernel, _| [80, 100][kernel]);
        run(&mut autotuner, 40, true, ns);
        assert_eq!(autotuner.decide(), Decision { busy: Some((0, false)), idle: Some((1, true)) });
    }

    #[test]
    fn the_kernel_of_all_tasks_stays_when_it_was_dropped_alone() {
        let mut autotuner = Autotuner::new(&[PLAIN, TEAM], false);
        // The second kernel is far slower alone, and its first measurement with a team is fast.
        run(&mut autotuner, 6, true, |kernel, team| {
            if kernel == 0 {
                100
            } else if team {
                60
            } else {
                400
            }
        });
        run(&mut autotuner, 40, false, |kernel, team| {
            if kernel == 0 {
                100
            } else if team {
                90
            } else {
                400
            }
        });
        assert_eq!(autotuner.fixed, Some(1));
        run(&mut autotuner, 40, true, |_, team| if team { 350 } else { 400 });
        let Decision { busy, idle } = autotuner.decide();
        assert_eq!((busy.map(|(kernel, _)| kernel), idle.map(|(kernel, _)| kernel)), (Some(1), Some(1)));
    }

    #[test]
    fn failures_end_trials_too() {
        let mut autotuner = Autotuner::new(&[PLAIN, PLAIN], false);
        for _ in 0..2 * RUNS {
            let (index, is_trial) = autotuner.next(false);
            assert!(is_trial);
            autotuner.end(index, None);
        }
        assert_eq!(autotuner.decide().busy, Some((0, false)));
        assert_eq!(autotuner.next(false), (0, false));
    }
}
