//! Functions that keep memory busy: non-temporal stores, which bypass the caches, and prefetches.
//!
//! An ordinary store first reads the line that it changes, so a map of a large array moves each line of its output
//! twice. The C library's copy of large arrays uses non-temporal stores too.

#![allow(unsafe_code, reason = "calls instructions that a level has, where the level is proved")]

use bytemuck::Pod;

use super::{At, Vendor, vendor};

/// A cache line.
pub(super) const LINE_BYTES: usize = 64;

/// The processor's prefetcher does not cross the boundaries of these.
pub(super) const PAGE_BYTES: usize = 4096;

/// The number of pages that are read or written alternately: on most machines one stream of addresses leaves memory
/// idle at each page. On AMD's processors one page is the fastest (measured: a Zen 4, and for sums a Zen 3).
#[inline]
pub(super) fn pages_in_turn() -> usize {
    if vendor() == Vendor::Amd { 1 } else { 4 }
}

/// `to[i] = from[i]`, with stores past the caches if `to` consists of whole lines and the level has such stores.
///
/// After such a store nothing may access `to` before [`fence`], on this thread or another.
#[inline(always)]
pub(super) fn copy<T: Pod, const LEVEL: u8>(at: At<LEVEL>, from: &[T], to: &mut [T]) {
    let is_aligned = to.as_ptr().addr().is_multiple_of(LINE_BYTES);
    if !At::<LEVEL>::HAS_V3 || !is_aligned || !size_of_val(to).is_multiple_of(LINE_BYTES) {
        return to.copy_from_slice(from);
    }
    let lines = bytemuck::cast_slice(from).as_chunks::<LINE_BYTES>().0;
    let to_lines = bytemuck::cast_slice_mut(to).as_chunks_mut::<LINE_BYTES>().0;
    for (line, to) in lines.iter().zip(to_lines) {
        store(at, line, to);
    }
}

/// Stores a line past the caches. `to` is aligned to a line.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn store<const LEVEL: u8>(_: At<LEVEL>, line: &[u8; LINE_BYTES], to: &mut [u8; LINE_BYTES]) {
    debug_assert!(to.as_ptr().addr().is_multiple_of(LINE_BYTES));
    if At::<LEVEL>::HAS_V4 {
        // SAFETY:
        // - the token proves AVX-512 F (invariant L2).
        // - `to` is aligned to a line: `copy` has checked it.
        // - nothing accesses the line before `fence`: of the two callers, the loop of `map` lends it to no other code, and
        //   `PastCaches` has the output alone until `past_caches` has fenced, and lends each element to one store. It is not
        //   `Send`, so the thread that stores is the one that fences.
        unsafe { x86_64::store_512(line, to) };
    } else {
        // SAFETY: as above, with AVX; `copy` calls this only where the level is V3 at least.
        unsafe { x86_64::store_256(line, to) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn store<const LEVEL: u8>(_: At<LEVEL>, line: &[u8; LINE_BYTES], to: &mut [u8; LINE_BYTES]) {
    *to = *line;
}

/// Prefetches as many bytes as `row` has, `ahead` bytes after it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn fetch<T>(row: &[T], ahead: usize) {
    for line in (0..size_of_val(row)).step_by(LINE_BYTES) {
        let address = row.as_ptr().cast::<i8>().wrapping_add(ahead + line);
        // SAFETY: it requires SSE, which every x86-64 processor has, and accesses nothing: any address is valid.
        unsafe { std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address) };
    }
}

/// Orders the stores of [`copy`] before all later stores of this thread, like ordinary stores.
#[inline(always)]
pub(super) fn fence() {
    // SAFETY: it requires SSE, which every x86-64 processor has.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm256_stream_si256, _mm512_loadu_si512, _mm512_stream_si512,
    };

    use super::LINE_BYTES;

    /// # Safety
    /// `to` is aligned to a line, and nothing accesses it before a fence.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn store_512(line: &[u8; LINE_BYTES], to: &mut [u8; LINE_BYTES]) {
        // SAFETY: it reads the 64 bytes of `line`, at any alignment.
        let bytes = unsafe { _mm512_loadu_si512(line.as_ptr().cast()) };
        // SAFETY: it writes the 64 bytes of `to`, which is aligned; the caller fences.
        unsafe { _mm512_stream_si512(to.as_mut_ptr().cast(), bytes) };
    }

    /// # Safety
    /// As for `store_512`.
    #[inline]
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn store_256(line: &[u8; LINE_BYTES], to: &mut [u8; LINE_BYTES]) {
        let (halves, _) = line.as_chunks::<32>();
        let (to_halves, _) = to.as_chunks_mut::<32>();
        for (half, to) in halves.iter().zip(to_halves) {
            // SAFETY: it reads the 32 bytes of `half`, at any alignment.
            let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            // SAFETY: it writes the 32 bytes of `to`, half of an aligned line; the caller fences.
            unsafe { _mm256_stream_si256(to.as_mut_ptr().cast(), bytes) };
        }
    }
}
