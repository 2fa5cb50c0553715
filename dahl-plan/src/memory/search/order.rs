//! The static orders by which the search prefers buffers: of two with the same least offset, the first one is tried first.

use std::cmp::Reverse;

use super::super::instance::Instance;

/// MiniMalloc's orders WAT, TAW and TWA, each a permutation of the buffers: by decreasing W (width: the length of the
/// lifetime), A (area: width x size) and T (total: the largest load of a section with the buffer).
pub(super) fn orders(instance: &Instance) -> [Vec<usize>; 3] {
    let width = |buffer: usize| instance.length[buffer];
    let area = |buffer: usize| u128::from(instance.length[buffer]) * u128::from(instance.size[buffer]);
    let loads = largest_loads(instance);
    let total = |buffer: usize| loads[buffer];
    [
        by(instance, |buffer| Reverse((width(buffer), area(buffer), total(buffer)))),
        by(instance, |buffer| Reverse((total(buffer), area(buffer), width(buffer)))),
        by(instance, |buffer| Reverse((total(buffer), width(buffer), area(buffer)))),
    ]
}

/// How much the weight of a buffer in a [`random`] order varies at least, as a factor's logarithm.
const SPREAD: f64 = 0.2;

/// A random order: by a product of powers of width, size and total, with random exponents, and in every other order of
/// the conflicts in the sections of a buffer, so that a search turns to the sections in which others have failed.
pub(super) fn random(instance: &Instance, conflicts: &[u64], seed: u64) -> Vec<usize> {
    let mut random = Random(seed);
    let loads = largest_loads(instance);
    let mut exponent = |most: f64| most * random.next();
    let (width, size, total) = (exponent(1.5), exponent(1.5), exponent(4.0));
    let conflict = if seed.is_multiple_of(2) { 0.0 } else { exponent(1.0) };
    let mean = 1.0 + conflicts.iter().sum::<u64>() as f64 / conflicts.len().max(1) as f64;
    let mut weight = |buffer: usize| {
        let met: u64 = conflicts[instance.span(buffer)].iter().sum();
        let logarithm = |value: u64| (value as f64).ln();
        width * logarithm(instance.length[buffer])
            + size * logarithm(instance.size[buffer])
            + total * logarithm(loads[buffer])
            + conflict * (0.01 + met as f64 / mean).ln()
            + SPREAD * random.next()
    };
    let weights: Vec<f64> = (0..instance.buffers()).map(&mut weight).collect();
    let mut order: Vec<usize> = (0..instance.buffers()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order
}

fn by<K: Ord>(instance: &Instance, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..instance.buffers()).collect();
    order.sort_by_key(|&buffer| key(buffer));
    order
}

fn largest_loads(instance: &Instance) -> Vec<u64> {
    let load = |buffer| instance.load[instance.span(buffer)].iter().copied().max().unwrap_or(0);
    (0..instance.buffers()).map(load).collect()
}

/// Steele et al.'s SplitMix64, of which a plan needs no more than that it is the same on every machine.
struct Random(u64);

impl Random {
    /// A number in [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let value = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((value ^ (value >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}
