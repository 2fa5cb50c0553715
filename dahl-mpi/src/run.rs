//! [`Run`]: which ranks take part in the current run, which of them have ended, and the first that failed.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use dahl_ranks::RankFailed;

/// The current run as this rank knows it, and what is known of later ones: other ranks may be in them already.
pub(crate) struct Run {
    own: usize,
    /// From 1; 0 before the first.
    number: u64,
    ranks: usize,
    is_running: bool,
    failure: Option<(RankFailed, Instant)>,
    /// Of later runs.
    failures: HashMap<u64, RankFailed>,
    /// The ranks that have ended their part of a run.
    ended: HashSet<(u64, usize)>,
    /// For each rank of the world, whether it has left.
    left: Vec<bool>,
    silent: Option<RankFailed>,
    done: Option<Sender<Option<RankFailed>>>,
}

impl Run {
    pub(crate) fn new(own: usize, world: usize) -> Self {
        Self {
            own,
            number: 0,
            ranks: 0,
            is_running: false,
            failure: None,
            failures: HashMap::new(),
            ended: HashSet::new(),
            left: vec![false; world],
            silent: None,
            done: None,
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Begins a run on the first `ranks` ranks. Returns a failure of which this rank has heard already.
    pub(crate) fn begin(&mut self, number: u64, ranks: usize) -> Option<RankFailed> {
        (self.number, self.ranks, self.failure) = (number, ranks, None);
        self.is_running = self.own < ranks;
        // Ranks that took no part in earlier runs have heard of their ends.
        self.ended.retain(|(run, _)| *run >= number);
        let left = (0..ranks).find(|&rank| self.left[rank]).map(Self::early);
        let failed = self.failures.remove(&number).or_else(|| self.silent.clone()).or(left);
        failed.filter(|_| self.is_running)
    }

    fn early(rank: usize) -> RankFailed {
        RankFailed { rank, cause: "its process left before the program's end".to_owned() }
    }

    /// The first failure of the run.
    pub(crate) fn failure(&self) -> Option<&RankFailed> {
        self.failure.as_ref().map(|(failed, _)| failed)
    }

    /// Sets the failure of the run, unless there is one; returns the first.
    pub(crate) fn fail(&mut self, failed: RankFailed) -> &RankFailed {
        &self.failure.get_or_insert_with(|| (failed, Instant::now())).0
    }

    /// A rank says that a run has failed. Returns whether it is the current one; a later one fails when it begins.
    pub(crate) fn fails(&mut self, number: u64, failed: RankFailed) -> bool {
        if number > self.number {
            self.failures.entry(number).or_insert(failed);
        }
        number == self.number
    }

    /// A rank has ended its part of a run.
    pub(crate) fn ended(&mut self, number: u64, rank: usize) {
        self.ended.insert((number, rank));
    }

    /// This rank has.
    pub(crate) fn end_own(&mut self, done: Sender<Option<RankFailed>>) {
        self.ended(self.number, self.own);
        self.done = Some(done);
    }

    /// A rank has left. Returns the failure, if it is needed.
    pub(crate) fn left(&mut self, rank: usize) -> Option<RankFailed> {
        self.left[rank] = true;
        let is_needed = self.is_running && rank < self.ranks && !self.ended.contains(&(self.number, rank));
        is_needed.then(|| Self::early(rank))
    }

    /// A rank does not answer, for good.
    pub(crate) fn is_silent(&mut self, failed: RankFailed) {
        self.silent.get_or_insert(failed);
    }

    /// The rank that does not answer.
    pub(crate) fn silent(&self) -> Option<&RankFailed> {
        self.silent.as_ref()
    }

    /// Whether nothing comes from this rank any more.
    pub(crate) fn is_gone(&self, rank: usize) -> bool {
        self.left[rank] || self.silent.as_ref().is_some_and(|failed| failed.rank == rank)
    }

    /// Whether this rank has ended its part of the run, and so have all others.
    pub(crate) fn all_ended(&self) -> bool {
        let has_ended = |rank| self.ended.contains(&(self.number, rank)) || self.is_gone(rank);
        self.done.is_some() && (0..self.ranks).all(has_ended)
    }

    /// Ends the run, and says so to who waits for it.
    pub(crate) fn conclude(&mut self) {
        self.is_running = false;
        let number = self.number;
        self.ended.retain(|(run, _)| *run > number);
        if let Some(done) = self.done.take() {
            // Who waits does not go away.
            let _ = done.send(self.failure().cloned());
        }
    }

    /// Whether all other ranks have left.
    pub(crate) fn all_left(&self) -> bool {
        (0..self.left.len()).all(|rank| rank == self.own || self.is_gone(rank))
    }

    /// The failure of a run that has not ended although it failed long ago.
    pub(crate) fn is_stuck(&self, now: Instant, patience: Duration) -> Option<&RankFailed> {
        let (failed, since) = self.failure.as_ref().filter(|_| self.is_running)?;
        (now.duration_since(*since) > patience).then_some(failed)
    }
}
