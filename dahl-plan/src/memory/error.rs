//! [`Error`]: why there is no allocation.

use super::allocation::Allocation;

/// Why there is no allocation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A buffer lives at no time.
    #[error("buffer {id} lives at no time: expected lower < upper, and they are {lower} and {upper}")]
    Lifetime {
        /// The buffer.
        id: u64,
        /// Its lower time.
        lower: i64,
        /// Its upper time.
        upper: i64,
    },
    /// The alignment is 0.
    #[error("the alignment is 0: expected at least 1")]
    Alignment,
    /// The sum of the aligned sizes is above a quarter of the numbers of 64 bits, or there are 2^32 buffers.
    #[error(
        "the buffers are too large: expected a sum of sizes below 2^62 bytes, and fewer than 2^32 buffers"
    )]
    TooLarge,
    /// The buffers do not fit. This is proven.
    #[error("the buffers do not fit into {capacity} bytes: they need at least {lower_bound}")]
    DoesNotFit {
        /// The bytes that there are.
        capacity: u64,
        /// Bytes that every allocation needs, more than the capacity.
        lower_bound: u64,
        /// Whether that many bytes live at one time. Otherwise the search has been through all allocations.
        is_load: bool,
    },
    /// The steps were used up before the question was decided.
    #[error("the search has not found out whether the buffers fit into {capacity} bytes: they need at least {}, and the best allocation found has {}", best.lower_bound, best.peak)]
    Undecided {
        /// The bytes that there are.
        capacity: u64,
        /// The best allocation found. Its peak is above the capacity.
        best: Box<Allocation>,
    },
}
