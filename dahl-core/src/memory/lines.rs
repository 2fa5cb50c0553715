//! Whole cache lines, of which all memory consists.

/// The alignment of arrays: a cache line, and the width of an AVX-512 register.
pub(crate) const ALIGN_BYTES: usize = 64;

/// `bytes` rounded up to whole lines, or none if that exceeds the largest allocation.
pub(crate) fn round_up(bytes: usize) -> Option<usize> {
    let rounded = bytes.checked_next_multiple_of(ALIGN_BYTES)?;
    (rounded <= isize::MAX as usize - ALIGN_BYTES).then_some(rounded)
}
