//! [`prefetch`]: what will be read or written soon.

/// Brings what is at `place` to the first-level cache. It may be any address: a prefetch does not fault.
#[allow(unsafe_code, reason = "takes a raw pointer")]
#[inline(always)]
pub(super) fn prefetch<C>(place: *const C) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as above, and it gives nothing that is read.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
