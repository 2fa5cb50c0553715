//! Whole cache lines, of which all memory consists.

/// Where arrays begin: a cache line, and the width of an AVX-512 register.
pub(crate) const ALIGN_BYTES: usize = 64;

/// `bytes` rounded up to whole lines, or nothing if that is more than an allocation can be.
pub(crate) fn round_up(bytes: usize) -> Option<usize> {
    let rounded = bytes.checked_next_multiple_of(ALIGN_BYTES)?;
    (rounded <= isize::MAX as usize - ALIGN_BYTES).then_some(rounded)
}
