//! [`transpose`]: turns rows of pairs into columns.
#![allow(unsafe_code, reason = "loads and stores take pointers")]

use std::arch::x86_64::{
    _mm512_loadu_si512, _mm512_setzero_si512, _mm512_shuffle_i32x4, _mm512_storeu_si512,
    _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};

use super::SIDE;
use crate::cpu::bf16_dot::Pair;

/// Transposes two by two elements within each quarter of the vectors, then the quarters.
#[target_feature(enable = "avx512f")]
pub(super) fn transpose(pairs: &mut [[Pair; SIDE]; SIDE]) {
    let mut rows = [_mm512_setzero_si512(); SIDE];
    for (row, pairs) in rows.iter_mut().zip(&*pairs) {
        // SAFETY: they are 64 bytes.
        *row = unsafe { _mm512_loadu_si512(pairs.as_ptr().cast()) };
    }
    let mut twos = rows;
    for i in (0..SIDE).step_by(2) {
        twos[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
        twos[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    }
    let mut fours = rows;
    for i in (0..SIDE).step_by(4) {
        for j in 0..2 {
            fours[i + 2 * j] = _mm512_unpacklo_epi64(twos[i + j], twos[i + 2 + j]);
            fours[i + 2 * j + 1] = _mm512_unpackhi_epi64(twos[i + j], twos[i + 2 + j]);
        }
    }
    // Quarter `q` of `fours[4 r + c]` has the elements of rows `4 r ..` in column `4 q + c`.
    for c in 0..4 {
        let even = |first: usize| _mm512_shuffle_i32x4::<0x88>(fours[first + c], fours[first + 4 + c]);
        let odd = |first: usize| _mm512_shuffle_i32x4::<0xdd>(fours[first + c], fours[first + 4 + c]);
        let (even_low, even_high, odd_low, odd_high) = (even(0), even(8), odd(0), odd(8));
        rows[c] = _mm512_shuffle_i32x4::<0x88>(even_low, even_high);
        rows[4 + c] = _mm512_shuffle_i32x4::<0x88>(odd_low, odd_high);
        rows[8 + c] = _mm512_shuffle_i32x4::<0xdd>(even_low, even_high);
        rows[12 + c] = _mm512_shuffle_i32x4::<0xdd>(odd_low, odd_high);
    }
    for (row, pairs) in rows.iter().zip(pairs) {
        // SAFETY: they are 64 bytes.
        unsafe { _mm512_storeu_si512(pairs.as_mut_ptr().cast(), *row) };
    }
}
