//! Numbers that one can trust: what an op computes, compared across element types, variants and kernels.

mod digits;

pub use digits::Digits;
