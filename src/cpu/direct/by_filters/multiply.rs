//! [`Multiply`]: the multiplication of filters and elements: [`Singles`], or [`Bf16Dot`] for pairs of `bf16` in the
//! place of `f32`.

#![allow(unsafe_code, reason = "calls an instruction where it is proved to be there")]

#[cfg(target_arch = "x86_64")]
use dahl_core::simd::Level;
use pulp::{Simd, WithSimd};

use crate::cpu::bf16_dot::is_supported;
use crate::cpu::lanes::Lanes;

/// How a product of vectors is added to sums.
pub(in crate::cpu::direct) trait Multiply<C: Lanes>: Copy {
    /// Whether the filters of one tap are in registers at a time, and never those of three.
    const TAP_BY_TAP: bool;
    /// Elements whose products are summed in one lane.
    const AT_ONCE: usize;

    /// `sum + filter * element`, lane by lane.
    fn multiply_add<S: Simd>(
        self,
        simd: S,
        filter: C::Vector<S>,
        element: C::Vector<S>,
        sum: C::Vector<S>,
    ) -> C::Vector<S>;
}

/// One product in each lane.
#[derive(Clone, Copy)]
pub(in crate::cpu::direct) struct Singles;

impl<C: Lanes> Multiply<C> for Singles {
    const TAP_BY_TAP: bool = false;
    const AT_ONCE: usize = 1;

    #[inline(always)]
    fn multiply_add<S: Simd>(
        self,
        simd: S,
        filter: C::Vector<S>,
        element: C::Vector<S>,
        sum: C::Vector<S>,
    ) -> C::Vector<S> {
        C::multiply_add(simd, filter, element, sum)
    }
}

/// Two products in each lane, of pairs of `bf16` that are passed as the bits of an `f32`: fast in
/// [`in_bf16_dot_vectors`], slow elsewhere.
///
/// Invariant P1: only [`new`](Self::new) makes one, so the machine has the instruction.
#[derive(Clone, Copy)]
pub(in crate::cpu::direct) struct Bf16Dot(());

impl Bf16Dot {
    /// # Panics
    /// If the machine multiplies no pairs.
    pub(in crate::cpu::direct) fn new() -> Self {
        assert!(is_supported());
        Self(())
    }
}

impl Multiply<f32> for Bf16Dot {
    // A tap of two channels takes one multiplication, as a tap of one does.
    const TAP_BY_TAP: bool = true;
    const AT_ONCE: usize = 2;

    #[inline(always)]
    fn multiply_add<S: Simd>(self, _: S, filter: S::f32s, element: S::f32s, sum: S::f32s) -> S::f32s {
        #[cfg(target_arch = "x86_64")]
        if const { size_of::<S::f32s>() == 64 } {
            let [filter, element, sum] = [filter, element, sum].map(bytemuck::cast);
            // SAFETY: the machine has the instruction, since `self` exists (P1), and AVX-512, which all machines with
            // it have.
            return bytemuck::cast(unsafe { x86_64::multiply_add(filter, element, sum) });
        }
        let _ = (filter, element, sum);
        unreachable!("pairs are multiplied in vectors of 64 bytes")
    }
}

/// Runs `work` in vectors, compiled with the instruction for pairs, which the machine has (P1).
pub(in crate::cpu::direct) fn in_bf16_dot_vectors<W: WithSimd>(_: Bf16Dot, work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    if const { Level::V4.is_compiled() }
        && let Some(simd) = pulp::x86::V4::try_new()
    {
        // SAFETY: the instruction is there, as the first value proves (P1), and so is AVX-512, as the second does.
        return unsafe { x86_64::with_instruction(simd, work) };
    }
    drop(work);
    unreachable!("what multiplies pairs has AVX-512")
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{__m512, _mm512_castps_si512, _mm512_dpbf16_ps};

    use pulp::WithSimd;
    use pulp::x86::V4;

    use crate::cpu::bf16_dot::in_pairs;

    #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512bf16")]
    pub(super) fn with_instruction<W: WithSimd>(simd: V4, work: W) -> W::Output {
        work.with_simd(simd)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    pub(super) fn multiply_add(filter: __m512, element: __m512, sum: __m512) -> __m512 {
        let [filter, element] = [filter, element].map(|pairs| in_pairs(_mm512_castps_si512(pairs)));
        _mm512_dpbf16_ps(sum, filter, element)
    }
}
