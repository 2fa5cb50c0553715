//! Packing and micro-kernels for the CPU: the functions over slices and views that the kernels of the operations call.
//!
//! This module has what a plain loop over elements does not do well: matrix products ([`gemm`]), attention in blocks
//! ([`attention`]), convolution, from the image itself ([`direct`], [`conv2d_relu`]) or as matrix products on packed
//! patches ([`conv2d`], [`im2col`]; over any number of axes [`convolution`], [`depthwise`], [`volume`]), orders of axes ([`axes`]),
//! pooling ([`windows`]), sampling ([`indexed`], [`interpolation`]), vectorised loops ([`lanes`]), planes and rows that are
//! normalised ([`planes`], [`normalize`]), rows that cores share ([`shared_rows`]), rotations of pairs ([`rotary`]), gates
//! of recurrent cells ([`gates`]), sums of exponentials of long rows ([`log_sum_exp`]), the index of an element ([`position`]),
//! sums and products that keep their accuracy ([`sum_of`], [`compensated`], [`scaled`]), elements in their compute type
//! ([`compute`]), counter-based random numbers ([`philox`]), and the temporary memory that they recycle ([`scratch`]).
//! Everything is safe to call and checks its bounds. In this package only this module may use `unsafe`. Only [`gemm`], the
//! multiplications of [`bf16_dot`] and [`tiles`], instructions of [`lanes`], loops of [`direct`] that read lines without a
//! check for each, and [`prefetch`] do.
//!
//! Not here: the declarations with their shapes and checks (`ops`), and plain vectorised loops and reductions
//! (`dahl_core::simd`).

pub(crate) mod attention;
pub(crate) mod axes;
pub(crate) mod bf16_dot;
pub(crate) mod compensated;
pub(crate) mod compute;
pub(crate) mod conv2d;
pub(crate) mod conv2d_relu;
pub(crate) mod convolution;
mod depthwise;
pub(crate) mod direct;
pub(crate) mod gates;
pub(crate) mod gemm;
pub(crate) mod im2col;
pub(crate) mod indexed;
pub(crate) mod interpolation;
pub(crate) mod lanes;
pub(crate) mod log_sum_exp;
pub(crate) mod normalize;
pub(crate) mod philox;
pub(crate) mod planes;
pub(crate) mod position;
mod prefetch;
pub(crate) mod rotary;
pub(crate) mod row_major;
pub(crate) mod scaled;
pub(crate) mod scratch;
pub(crate) mod shared_rows;
pub(crate) mod sum_of;
pub(crate) mod tiles;
pub(crate) mod volume;
pub(crate) mod windows;
