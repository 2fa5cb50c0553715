//! [`Clocks`]: when something was, on one clock for all ranks.
//!
//! While it runs, each rank compares its clock with that of rank 0, as NTP does (Mills 1991, "Internet Time Synchronization: the Network Time
//! Protocol", section 4): it asks for the time, and takes the middle of the round trip as the time of the answer. The error is
//! at most half of the round trip, so those with long ones are left out. Between two comparisons the difference is
//! interpolated, since clocks drift. What is left, as messages show, is corrected: a clock goes ahead until no message arrives
//! before it is sent (Lamport 1978, "Time, Clocks, and the Ordering of Events in a Distributed System").

use crate::Trace;
use crate::trace::ClockSample;

/// The least time between two comparisons: what they are wrong by is then a small part of the time between them.
const APART_NS: u64 = 500_000_000;

/// A message, whose ends are by the clocks of its two ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) sent_ns: u64,
    pub(super) received_ns: u64,
}

/// The clocks of all ranks.
#[derive(Debug)]
pub(super) struct Clocks {
    clocks: Vec<Clock>,
    /// The beginning of the run, on the common clock.
    origin_ns: i64,
}

/// The clock of a rank: by how much the common one is ahead.
#[derive(Debug)]
struct Clock {
    /// At times of the rank's own clock, in order.
    ahead: Vec<(u64, i64)>,
    /// What messages add.
    shift_ns: i64,
}

impl Clocks {
    pub(super) fn of(traces: &[Trace], passages: &[Passage]) -> Self {
        let clocks = traces.iter().map(|trace| Clock { ahead: compared(&trace.clock), shift_ns: 0 });
        let mut clocks = Self { clocks: clocks.collect(), origin_ns: 0 };
        clocks.respect(passages);
        clocks.origin_ns = clocks.clocks.iter().map(|clock| clock.common(0)).min().unwrap_or(0);
        clocks
    }

    /// When something was that happened at this time of a rank's clock.
    pub(super) fn at(&self, rank: usize, ns: u64) -> u64 {
        (self.clocks[rank].common(ns) - self.origin_ns).try_into().unwrap_or(0)
    }

    /// Sets clocks ahead, as little as possible, so that no message arrives before it is sent.
    fn respect(&mut self, passages: &[Passage]) {
        let ranks = self.clocks.len();
        // By how much the receiver's clock has to be ahead of the sender's, at least.
        let mut least = vec![i64::MIN; ranks * ranks];
        for Passage { from, to, sent_ns, received_ns } in passages {
            let least = &mut least[from * ranks + to];
            *least =
                (*least).max(self.clocks[*from].common(*sent_ns) - self.clocks[*to].common(*received_ns));
        }
        // Longest paths, by Bellman and Ford. A cycle would mean that clocks drift between two comparisons.
        for _ in 0..ranks {
            let mut is_settled = true;
            for (pair, least) in least.iter().enumerate().filter(|(_, least)| **least != i64::MIN) {
                let needed = self.clocks[pair / ranks].shift_ns + least;
                let shift = &mut self.clocks[pair % ranks].shift_ns;
                is_settled &= *shift >= needed;
                *shift = (*shift).max(needed);
            }
            if is_settled {
                return;
            }
        }
    }
}

impl Clock {
    /// The time of the common clock at a time of this one.
    fn common(&self, ns: u64) -> i64 {
        ns as i64 + self.ahead_at(ns) + self.shift_ns
    }

    fn ahead_at(&self, ns: u64) -> i64 {
        let next = self.ahead.partition_point(|(at_ns, _)| *at_ns <= ns);
        match (next.checked_sub(1).map(|before| self.ahead[before]), self.ahead.get(next)) {
            (None, None) => 0,
            (Some((_, ahead)), None) => ahead,
            (None, Some((_, ahead))) => *ahead,
            (Some((from_ns, from)), Some((to_ns, to))) => {
                let part = i128::from(to - from) * i128::from(ns - from_ns) / i128::from(to_ns - from_ns);
                // It is between the two.
                from + part as i64
            }
        }
    }
}

/// The comparisons whose round trips were short.
fn compared(samples: &[ClockSample]) -> Vec<(u64, i64)> {
    let shortest_ns = samples.iter().map(|sample| sample.round_trip_ns).min().unwrap_or(0);
    let mut best: Vec<ClockSample> = Vec::new();
    for sample in samples.iter().filter(|sample| sample.round_trip_ns <= 2 * shortest_ns) {
        match best.last_mut().filter(|last| sample.at_ns < last.at_ns + APART_NS) {
            Some(last) if sample.round_trip_ns < last.round_trip_ns => *last = *sample,
            Some(_) => {}
            None => best.push(*sample),
        }
    }
    best.into_iter().map(|sample| (sample.at_ns, sample.ahead_ns)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Clock, Clocks, Passage, compared};
    use crate::trace::ClockSample;

    fn clocks(ahead: &[i64]) -> Clocks {
        let clocks = ahead.iter().map(|&ahead| Clock { ahead: vec![(0, ahead)], shift_ns: 0 });
        Clocks { clocks: clocks.collect(), origin_ns: 0 }
    }

    #[test]
    fn comparisons_with_long_round_trips_are_left_out() {
        let sample = |at_ms: u64, ahead_ns, round_trip_ns| ClockSample {
            at_ns: at_ms * 1_000_000,
            ahead_ns,
            round_trip_ns,
        };
        let samples = [
            sample(1, 7, 300),
            sample(2, 8, 200),
            sample(1100, 100, 5000),
            sample(1101, 10, 110),
            sample(1102, 11, 100),
        ];
        assert_eq!(compared(&samples), [(2_000_000, 8), (1_102_000_000, 11)]);
        assert_eq!(compared(&[]), []);
    }

    #[test]
    fn a_drift_is_interpolated() {
        let clock = Clock { ahead: vec![(100, 10), (300, 30)], shift_ns: 0 };
        let common = [0, 100, 150, 300, 1000].map(|ns| clock.common(ns));
        assert_eq!(common, [10, 110, 165, 330, 1030]);
    }

    #[test]
    fn no_message_arrives_before_it_is_sent() {
        // Rank 1 is 50 ns too late, and what it sends on is so for rank 2.
        let mut clocks = clocks(&[1000, 0, 0]);
        let passage = |from, to, sent_ns, received_ns| Passage { from, to, sent_ns, received_ns };
        let passages = [
            passage(1, 2, 1000, 1010),
            passage(0, 1, 0, 950),
            passage(2, 0, 1000, 90),
            passage(0, 1, 0, 990),
        ];
        clocks.respect(&passages);
        for Passage { from, to, sent_ns, received_ns } in passages {
            assert!(
                clocks.clocks[from].common(sent_ns) <= clocks.clocks[to].common(received_ns),
                "{from} to {to}"
            );
        }
        let shifts: Vec<i64> = clocks.clocks.iter().map(|clock| clock.shift_ns).collect();
        assert_eq!(shifts, [0, 50, 40], "no more than that is needed");
    }
}
