//! [`ClockProbe`]: compares the clock of a rank with that of rank 0, while its program runs.
//!
//! As NTP: a rank asks rank 0 for the time, several times in a row, and the answer with the shortest round trip counts. If
//! a question leaves at `asked`, comes at `heard`, and the answer leaves at `said` and comes at `answered`, the clock of rank 0 is
//! ahead by `((heard - asked) + (said - answered)) / 2`, and the error is at most half of the round trip. Nobody waits: each answer
//! is taken, and the next question asked, where messages arrive.

use std::fmt;
use std::sync::{Arc, PoisonError};

use super::recorder::Recorder;
use crate::ranks::{Destination, Tag, Transport};
use crate::sync::Mutex;

/// The questions of a round.
const QUESTIONS: u32 = 8;

/// A comparison with the clock of rank 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    /// When the answer came.
    pub(super) at_ns: u64,
    /// By how much the clock of rank 0 is ahead.
    pub(super) ahead_ns: i64,
    pub(super) round_trip_ns: u64,
}

impl Comparison {
    /// Of the times at which a question left, came to rank 0, and was answered there, and at which the answer came.
    fn of([asked, heard, said, answered]: [u64; 4]) -> Self {
        let there = heard as i64 - asked as i64;
        let back = said as i64 - answered as i64;
        Self {
            at_ns: answered,
            ahead_ns: i64::midpoint(there, back),
            round_trip_ns: answered.saturating_sub(asked).saturating_sub(said.saturating_sub(heard)),
        }
    }
}

/// Where the questions are.
#[derive(Debug, Default)]
struct Round {
    /// The number of the next question.
    next: u64,
    /// Questions that are left in this round, which has begun if there are some.
    left: u32,
    best: Option<Comparison>,
}

/// A rank's end of the comparisons.
pub(crate) struct ClockProbe {
    transport: Arc<dyn Transport>,
    recorder: Arc<Recorder>,
    round: Mutex<Round>,
}

impl fmt::Debug for ClockProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClockProbe")
    }
}

impl ClockProbe {
    /// None if there is one clock: on one rank, or in virtual time.
    pub(crate) fn new(transport: Arc<dyn Transport>, recorder: Arc<Recorder>) -> Option<Arc<Self>> {
        let is_one_clock = transport.ranks() == 1 || transport.turns().is_some();
        (!is_one_clock).then(|| Arc::new(Self { transport, recorder, round: Mutex::default() }))
    }

    /// Rank 0 answers from now on.
    pub(super) fn answer(self: &Arc<Self>) {
        if self.transport.rank() == 0 {
            (1..self.transport.ranks()).for_each(|rank| self.expect_question(rank, 0));
        }
    }

    /// Another rank begins a round, unless the last one has not ended.
    pub(super) fn begin_round(self: &Arc<Self>) {
        if self.transport.rank() == 0 {
            return;
        }
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        if round.left == 0 {
            (round.left, round.best) = (QUESTIONS, None);
            drop(round);
            self.ask();
        }
    }

    fn expect_question(self: &Arc<Self>, rank: usize, number: u64) {
        let question = Question { probe: Arc::clone(self), rank, number };
        self.transport.receive(rank, Tag::ClockQuestion(number), Box::new(question));
    }

    fn ask(self: &Arc<Self>) {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let number = round.next;
        round.next += 1;
        drop(round);
        let asked_ns = self.recorder.now_ns();
        self.transport.send(0, Tag::ClockQuestion(number), Ok(Box::new([0; 0])));
        let answer = Answer { probe: Arc::clone(self), number, asked_ns, times: [0; 16] };
        self.transport.receive(0, Tag::ClockAnswer(number), Box::new(answer));
    }

    /// Takes an answer, and asks again if the round has not ended.
    fn compared(self: &Arc<Self>, number: u64, comparison: Comparison) {
        let mut round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let is_better = round.best.is_none_or(|best| comparison.round_trip_ns < best.round_trip_ns);
        if is_better {
            round.best = Some(comparison);
        }
        round.left = round.left.saturating_sub(1);
        let (left, best) = (round.left, round.best);
        drop(round);
        // A short program may end before its first round.
        if left == 0 || number == 0 {
            best.into_iter().for_each(|best| self.recorder.compared(best));
        }
        if left > 0 {
            self.ask();
        }
    }
}

/// A question that rank 0 expects of a rank.
struct Question {
    probe: Arc<ClockProbe>,
    rank: usize,
    number: u64,
}

impl Destination for Question {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        if len == 0 { Ok(&mut []) } else { Err(format!("a question of {len} bytes came, of 0 expected")) }
    }

    fn arrived(self: Box<Self>, result: Result<(), String>) {
        let heard = self.probe.recorder.now_ns();
        let Self { probe, rank, number } = *self;
        // Not if a rank has failed.
        if result.is_ok() {
            let said = probe.recorder.now_ns();
            let times = [heard.to_le_bytes(), said.to_le_bytes()].concat();
            probe.transport.send(rank, Tag::ClockAnswer(number), Ok(Box::new(times)));
            probe.expect_question(rank, number + 1);
        }
    }
}

/// An answer that a rank expects.
struct Answer {
    probe: Arc<ClockProbe>,
    number: u64,
    asked_ns: u64,
    times: [u8; 16],
}

impl Destination for Answer {
    fn memory(&mut self, len: usize) -> Result<&mut [u8], String> {
        if len == 16 {
            Ok(&mut self.times)
        } else {
            Err(format!("an answer of {len} bytes came, of 16 expected"))
        }
    }

    fn arrived(self: Box<Self>, result: Result<(), String>) {
        let answered = self.probe.recorder.now_ns();
        let Self { probe, number, asked_ns, times } = *self;
        if result.is_ok() {
            let (heard, said) = times.split_at(8);
            let time = |bytes: &[u8]| bytes.iter().rev().fold(0, |time, byte| time << 8 | u64::from(*byte));
            probe.compared(number, Comparison::of([asked_ns, time(heard), time(said), answered]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Comparison;

    #[test]
    fn the_middle_of_a_round_trip_is_the_time_of_the_answer() {
        // Rank 0 is ahead by 1000; 30 there, 5 at rank 0, 30 back.
        let comparison = Comparison::of([100, 1130, 1135, 165]);
        assert_eq!(comparison, Comparison { at_ns: 165, ahead_ns: 1000, round_trip_ns: 60 });
        // Behind by 1000; 10 there and 50 back: wrong by less than half of 60.
        let comparison = Comparison::of([5000, 4010, 4010, 5060]);
        assert_eq!(comparison, Comparison { at_ns: 5060, ahead_ns: -1020, round_trip_ns: 60 });
    }
}
