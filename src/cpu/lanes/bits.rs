//! Stores the lower bits of lanes side by side: [`Lanes::store_bits`](super::Lanes::store_bits).

#![allow(unsafe_code, reason = "calls an instruction that the type of the vectors proves")]

use pulp::Simd;

/// Writes each lane.
#[inline(always)]
pub(super) fn store_u32s<S: Simd>(_: S, bits: S::u32s, to: &mut [u32]) {
    S::as_mut_simd_u32s(to).0[0] = bits;
}

/// Writes the lower half of each lane.
#[inline(always)]
pub(super) fn store_u64s<S: Simd>(_: S, bits: S::u64s, to: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if super::is::<S, pulp::x86::V4>() {
        // SAFETY: `S` is `V4`, and its value proves AVX-512.
        to[..8].copy_from_slice(&unsafe { lower_halves(bytemuck::cast(bits)) });
        return;
    }
    for (to, &bits) in to.iter_mut().zip(bytemuck::cast_slice::<S::u64s, u64>(&[bits])) {
        *to = bits as u32;
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn lower_halves(bits: std::arch::x86_64::__m512i) -> [u32; 8] {
    bytemuck::cast(std::arch::x86_64::_mm512_cvtepi64_epi32(bits))
}
