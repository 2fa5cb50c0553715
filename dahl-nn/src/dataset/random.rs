//! [`Random`]: random numbers that depend only on a seed and on what they are for.

/// Random numbers of one purpose: an epoch's order, or the augmentation of one sample in one epoch. They depend only on
/// the seed and the numbers that name the purpose, so that it does not matter which thread draws them, or when.
///
/// The generator is SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The numbers of `seed` for the purpose that these numbers name, such as `[epoch, index]`.
    pub fn new(seed: u64, purpose: &[u64]) -> Self {
        let state = purpose.iter().fold(mix(seed), |state, &number| mix(state ^ mix(number)));
        Self { state }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let bits = mix(self.state);
        self.state = self.state.wrapping_add(GAMMA);
        bits
    }

    /// A number from 0 up to and without 1, a multiple of 2^-53.
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }

    /// An integer below `bound`, each equally likely; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound < 2 {
            return 0;
        }
        // Lemire 2019, "Fast random integer generation in an interval": the upper half of the product, unless the lower
        // half is among the values that would make some integers likelier.
        let bound = bound as u64;
        let surplus = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= surplus {
                return (product >> 64) as usize;
            }
        }
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Brings `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number from 0 up to and without 1.
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// SplitMix64's increment and finalizer.
pub(super) fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(GAMMA);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // The first outputs of the reference implementation (Vigna, splitmix64.c) for the state 0.
        let mut random = Random { state: 0 };
        let first = [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f];
        assert_eq!(first.map(|_| random.bits()), first);
    }

    #[test]
    fn integers_are_below_the_bound_and_evenly_spread() {
        let mut random = Random::new(1, &[]);
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        // The standard deviation is 93.
        assert!(counts.iter().all(|&count| count.abs_diff(10_000) < 500), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
    }

    #[test]
    fn purposes_have_numbers_of_their_own() {
        let first = |seed, purpose: &[u64]| Random::new(seed, purpose).bits();
        let all =
            [first(1, &[0, 1]), first(1, &[1, 0]), first(2, &[0, 1]), first(1, &[0]), first(1, &[0, 0])];
        for (index, bits) in all.iter().enumerate() {
            assert!(!all[..index].contains(bits));
        }
        assert_eq!(first(1, &[0, 1]), all[0]);
    }

    #[test]
    fn a_shuffle_keeps_the_items() {
        let mut items: Vec<usize> = (0..100).collect();
        Random::new(3, &[]).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
