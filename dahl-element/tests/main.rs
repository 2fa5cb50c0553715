//! Tests of element types, in one program.

mod conversions;
mod print;
mod real;
mod simd;
mod sums;
