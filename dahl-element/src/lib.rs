//! What an array holds and what a declaration says of it, without a runtime: the lowest floor of dahl.
//!
//! * [`element`]: plain data that arrays hold, and the numbers that kernels compute with.
//! * [`simd`]: loops compiled for several instruction sets; the elementary functions; reductions of slices.
//! * [`shape`]: extents and strides. [`argument`]: plain values beside arrays. [`access`]: the access modes.
//! * [`mod@print`]: elements as text.
//!
//! Not here: arrays, memory, tasks (`dahl-core`). Programs use the crate `dahl`, which re-exports what is public there.

pub mod access;
pub mod argument;
pub mod element;
pub mod print;
pub mod shape;
pub mod simd;

/// Items for the code that `#[codelet]` generates. Not for other use: they change without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::simd::conversion::{narrow_block, narrows_in_blocks, widen};
    pub use crate::simd::level::At;
    pub use crate::simd::map::{Body, map, map_in_place};
}
