//! Packing and micro-kernels for the CPU: functions over slices and views that the ops' kernels are made of.
//!
//! What is here is what a plain loop over elements cannot do well: matrix products ([`gemm`]), convolution, from
//! the image itself ([`direct`], [`conv2d_relu`]) or as matrix products on packed patches ([`conv2d`], [`im2col`]), loops over
//! vectors of the machine ([`lanes`]), sums and products that keep their digits ([`sum_of`], [`compensated`], [`scaled`]),
//! elements in their compute type ([`compute`]), counter-based random numbers ([`philox`]), and the temporary memory that they
//! recycle ([`scratch`]). Everything is safe to call and checks its bounds; this is the only room of the package that may use
//! `unsafe`, and only [`gemm`], what multiplies [`bf16_dot`] and [`tiles`], instructions of [`lanes`], loops of [`direct`] that read
//! lines without a check for each, and [`prefetch`] do.
//!
//! Not here: the declarations with their shapes and checks (`ops`), and plain vectorised loops and reductions
//! (`dahl_core::simd`).

pub(crate) mod bf16_dot;
pub(crate) mod compensated;
pub(crate) mod compute;
pub(crate) mod conv2d;
pub(crate) mod conv2d_relu;
pub(crate) mod direct;
pub(crate) mod gemm;
pub(crate) mod im2col;
pub(crate) mod lanes;
pub(crate) mod philox;
mod prefetch;
pub(crate) mod row_major;
pub(crate) mod scaled;
pub(crate) mod scratch;
pub(crate) mod sum_of;
pub(crate) mod tiles;
