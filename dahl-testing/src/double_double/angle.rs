//! The reduction of an angle to a quadrant, for any `f64`: Payne and Hanek, "Radian reduction for trigonometric
//! functions" (1983).

use super::DoubleDouble;
use dahl_core::element::{Element, Real};

/// The binary digits of 2/π after the point.
const TWO_OVER_PI: [u64; 21] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_6bab,
    0xf0cf_bc20_9af4_361d,
    0xa9e3_9161_5ee6_1b08,
];

/// Words of 2/π that are multiplied: for the quadrant, the digits that cancel for a double near a multiple of π/2
/// (about 61 bits), the digits of the result, and as many again.
const WORDS: usize = 5;

/// `angle` as a quadrant, modulo 4, and an angle of at most about π/4 in magnitude.
pub(super) fn reduce(angle: DoubleDouble) -> (u64, DoubleDouble) {
    if angle.high.abs() < 0.75 {
        return (0, angle);
    }
    let (quadrant, high) = turns(angle.high);
    let (low_quadrant, low) = if angle.low.abs() < 0.5 {
        (0, DoubleDouble::from(angle.low) * DoubleDouble::FRAC_2_PI)
    } else {
        turns(angle.low)
    };
    let sum = high + low;
    let whole = sum.round();
    let quadrant = quadrant + low_quadrant + (whole.high as i64).rem_euclid(4) as u64;
    (quadrant % 4, (sum - whole) * DoubleDouble::FRAC_PI_2)
}

/// `value * 2/π` as an integer modulo 4 and a remainder of at most one half, with full relative accuracy. `value` is at
/// least 1/2 in magnitude.
fn turns(value: f64) -> (u64, DoubleDouble) {
    let bits = value.abs().to_bits();
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    // |value| = significand * 2^exponent
    let exponent = (bits >> 52) as i32 - 1075;
    // Bits of 2/π before this one contribute multiples of 4.
    let first = (exponent - 2).max(0);
    let mut product = [0; WORDS + 1];
    let mut carry = 0;
    for word in (0..WORDS).rev() {
        let sum = u128::from(bits_from(first as usize + 64 * word)) * u128::from(significand) + carry;
        product[word + 1] = sum as u64;
        carry = sum >> 64;
    }
    product[0] = carry as u64;
    // |value| * 2/π = product * 2^-point, modulo 4.
    let point = 64 * WORDS as i32 + first - exponent;
    let total = 64 * (WORDS as i32 + 1);
    // Shift the two bits of the integer to the top.
    let shifted = shift_left(&product, (total - point - 2) as u32);
    let integer = shifted[0] >> 62;
    let mut fraction = shift_left(&shifted, 2);
    let is_above_half = fraction[0] >> 63 == 1;
    if is_above_half {
        // 1 - fraction, up to its last bit.
        for word in &mut fraction {
            *word = !*word;
        }
    }
    let mut rest = DoubleDouble::ZERO;
    for (index, word) in fraction.into_iter().enumerate().rev() {
        // Two halves, each exact in `f64`.
        let place = -64 * (index as i32 + 1);
        let halves = DoubleDouble::from((word >> 32) as f64).scale(32)
            + DoubleDouble::from((word & 0xffff_ffff) as f64);
        rest += halves.scale(place);
    }
    let (quadrant, rest) = if is_above_half { (integer + 1, -rest) } else { (integer, rest) };
    if value < 0.0 { ((8 - quadrant) % 4, -rest) } else { (quadrant % 4, rest) }
}

/// 64 bits of 2/π from the bit of this index on, counted after the point.
fn bits_from(index: usize) -> u64 {
    let (word, shift) = (index / 64, index % 64);
    let at = |word: usize| TWO_OVER_PI.get(word).copied().unwrap_or_default();
    if shift == 0 { at(word) } else { at(word) << shift | at(word + 1) >> (64 - shift) }
}

/// The words as one number, shifted; bits beyond the top are dropped.
fn shift_left(words: &[u64; WORDS + 1], by: u32) -> [u64; WORDS + 1] {
    let (whole, shift) = ((by / 64) as usize, by % 64);
    let at = |index: usize| words.get(index).copied().unwrap_or_default();
    std::array::from_fn(|index| {
        let index = index + whole;
        if shift == 0 { at(index) } else { at(index) << shift | at(index + 1) >> (64 - shift) }
    })
}
