//! [`Pulse`]: whether the rank before this one, in a ring of all ranks, answers.

use std::time::{Duration, Instant};

/// The signs of life to the next rank, and of the one before.
pub(crate) struct Pulse {
    before: usize,
    next: usize,
    is_alone: bool,
    silence: Duration,
    /// The last sign of life from the rank before.
    heard: Instant,
    /// The last sign of life to the next rank.
    beaten: Instant,
    looked: Instant,
}

impl Pulse {
    pub(crate) fn new(rank: usize, ranks: usize, silence: Duration, now: Instant) -> Self {
        let (before, next) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        Self { before, next, is_alone: ranks == 1, silence, heard: now, beaten: now, looked: now }
    }

    /// A message has come from this rank.
    pub(crate) fn heard(&mut self, from: usize, now: Instant) {
        if from == self.before {
            self.heard = now;
        }
    }

    /// The rank that a sign of life is due to.
    pub(crate) fn beats(&mut self, now: Instant) -> Option<usize> {
        let is_due = !self.is_alone && now.duration_since(self.beaten) > self.silence / 8;
        if is_due {
            self.beaten = now;
        }
        is_due.then_some(self.next)
    }

    /// The rank before, if it has been silent for too long while this one listened.
    pub(crate) fn silent(&mut self, now: Instant) -> Option<usize> {
        if now.duration_since(self.looked) > self.silence / 4 {
            // This process itself was stopped, as the other one may have been.
            self.heard = now;
        }
        self.looked = now;
        (!self.is_alone && now.duration_since(self.heard) > self.silence).then_some(self.before)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pulse;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_silent_rank_is_named_unless_nobody_listened() {
        let start = Instant::now();
        let mut pulse = Pulse::new(0, 3, 8 * SECOND, start);
        assert_eq!(pulse.silent(start + SECOND), None);
        pulse.heard(1, start + 2 * SECOND);
        pulse.heard(2, start + 2 * SECOND);
        let silent = |pulse: &mut Pulse, seconds| pulse.silent(start + seconds * SECOND);
        assert!((3..=10).all(|second| silent(&mut pulse, second).is_none()));
        assert_eq!(silent(&mut pulse, 11), Some(2), "rank 2 stands before rank 0, and was heard at 2 s");
        assert_eq!(silent(&mut pulse, 100), None, "this process was stopped");
        assert!((101..=108).all(|second| silent(&mut pulse, second).is_none()));
        assert_eq!(silent(&mut pulse, 109), Some(2));
    }

    #[test]
    fn signs_of_life_go_to_the_next_rank() {
        let start = Instant::now();
        let mut pulse = Pulse::new(2, 3, 8 * SECOND, start);
        assert_eq!(pulse.beats(start + SECOND), None);
        assert_eq!(pulse.beats(start + 2 * SECOND), Some(0));
        assert_eq!(pulse.beats(start + 2 * SECOND), None);
    }

    #[test]
    fn a_rank_alone_has_nobody_to_hear() {
        let start = Instant::now();
        let mut pulse = Pulse::new(0, 1, 8 * SECOND, start);
        assert!((1..20).all(|second| pulse.beats(start + second * SECOND).is_none()));
        assert!((1..20).all(|second| pulse.silent(start + second * SECOND).is_none()));
    }
}
