//! [`add_row`]: the products of a row of the kernel, whose filters are in registers.

use std::ops::Range;

use pulp::Simd;

use super::MOST_TAPS;
use super::add_up::{ANY, MOST_POSITIONS};
use crate::cpu::lanes::Lanes;

/// Adds the products of a row of the kernel. Elements of the line that are not `within` are 0.
#[inline(always)]
pub(super) fn add_row<C: Lanes, S: Simd, const V: usize, const K: usize, const P: usize>(
    simd: S,
    line: &[C],
    within: &Range<usize>,
    filters: &[[C::Vector<S>; V]; K],
    sums: &mut [[C::Vector<S>; V]; P],
) {
    // On the constant, not on the array's length, so that code for other numbers of columns is not compiled.
    match K {
        1 => add_taps(simd, line, within, [filters[0]], sums),
        3 => add_taps(simd, line, within, [filters[0], filters[1], filters[2]], sums),
        5 => {
            add_taps(simd, line, within, [filters[0], filters[1], filters[2]], sums);
            let rest = within.start.saturating_sub(MOST_TAPS)..within.end.saturating_sub(MOST_TAPS);
            add_taps(simd, &line[MOST_TAPS..], &rest, [filters[3], filters[4]], sums);
        }
        // Any number of columns goes tap by tap.
        _ => const { assert!(matches!(K, ANY | 1 | 3 | 5)) },
    }
}

/// Adds the products of `K` neighbouring taps: element `q` of a line belongs to tap `k` of position `q - k`.
#[inline(always)]
fn add_taps<C: Lanes, S: Simd, const V: usize, const K: usize, const P: usize>(
    simd: S,
    line: &[C],
    within: &Range<usize>,
    filters: [[C::Vector<S>; V]; K],
    sums: &mut [[C::Vector<S>; V]; P],
) {
    const { assert!(P <= MOST_POSITIONS && K <= MOST_TAPS) };
    let line = &line[..P + K - 1];
    // Written out: the compiler does not unroll a loop of so many multiplications, and arrays of sums that are indexed
    // by a variable are in memory.
    macro_rules! elements {
        ($($place:literal)*) => { $(
            // Only elements at the ends may be of the border, so those between are not tested.
            let is_border = K > 1
                && ($place + 1 < MOST_TAPS && $place < within.start
                    || $place + MOST_TAPS > P + K - 1 && $place >= within.end);
            if $place < P + K - 1 && !is_border {
                let element = C::splat(simd, line[$place]);
                for tap in 0..K {
                    if tap <= $place && $place - tap < P {
                        for vector in 0..V {
                            let sum = &mut sums[$place - tap][vector];
                            *sum = C::multiply_add(simd, filters[tap][vector], element, *sum);
                        }
                    }
                }
            }
        )* };
    }
    const { assert!(MOST_POSITIONS + MOST_TAPS - 1 == 26) };
    elements!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25);
}
