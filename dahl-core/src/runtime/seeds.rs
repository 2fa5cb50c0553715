//! [`Seeds`]: the seeds of random numbers that a runtime hands out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::handle::Runtime;

/// A sequence of seeds, which the seed of the runtime determines.
#[derive(Debug)]
pub(crate) struct Seeds {
    seed: u64,
    drawn: AtomicU64,
}

impl Seeds {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, drawn: AtomicU64::new(0) }
    }

    /// The next seed (SplitMix64; Steele, Lea and Flood 2014, *Fast Splittable Pseudorandom Number Generators*).
    pub(crate) fn next(&self) -> u64 {
        let index = self.drawn.fetch_add(1, Ordering::Relaxed);
        let mut mixed = self.seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn drawn(&self) -> u64 {
        self.drawn.load(Ordering::Relaxed)
    }

    fn set_drawn(&self, drawn: u64) {
        self.drawn.store(drawn, Ordering::Relaxed);
    }
}

impl Runtime {
    /// A seed for random numbers: the next one of a sequence that [`rand_seed`](crate::RuntimeBuilder::rand_seed) determines.
    pub fn next_seed(&self) -> u64 {
        self.seeds.next()
    }

    /// The seeds, for programs.
    pub(crate) fn seeds(&self) -> Arc<Seeds> {
        Arc::clone(&self.seeds)
    }

    /// How many seeds have been drawn. A program that saves the number, and [sets](Self::set_seeds_drawn) it when it goes
    /// on, draws the same seeds as one that was not interrupted.
    pub fn seeds_drawn(&self) -> u64 {
        self.seeds.drawn()
    }

    /// Sets how many seeds have been drawn.
    pub fn set_seeds_drawn(&self, drawn: u64) {
        self.seeds.set_drawn(drawn);
    }
}

#[cfg(test)]
mod tests {
    use super::Seeds;

    #[test]
    fn a_sequence_can_be_continued() {
        let seeds = Seeds::new(7);
        let first: Vec<u64> = (0..5).map(|_| seeds.next()).collect();
        let again = Seeds::new(7);
        again.set_drawn(2);
        assert_eq!([again.next(), again.next(), again.next()], first[2..]);
        assert_eq!(again.drawn(), 5);
        assert_ne!(Seeds::new(8).next(), first[0]);
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), 5);
    }
}
