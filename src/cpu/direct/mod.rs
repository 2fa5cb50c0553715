//! Convolution by steps of one, straight from the image: no patches are made.
//!
//! An image gets its border of zeros, which makes its rows `width = columns + 2 padding` long, one behind the other in a
//! plane. The sum for row `r` and column `c` of the output is kept at position `p = r * width + c`, and what tap `[j, k]`
//! of the kernel multiplies there is `plane[p + j * width + k]`. So for each tap neighbouring positions need neighbouring
//! elements, and a vector of positions is one load, wherever rows end. Of every `width` positions, `kernel columns - 1`
//! lie between two rows of the output; their sums are not used.
//!
//! * [`convolve`]: keeps the sums of a few filters at a few vectors of positions in registers, over all channels and taps.
//!   The gradient by the input is the same with filters turned round, and the gradient as the image.
//! * [`gradient`]: keeps the sums of a few filters and taps in registers, over all positions.
//!
//! Each has those loops in a room `by_positions`, compiled for the type that is computed in alone.
//!
//! Both need one load for several multiplications, for one channel as for hundreds. With many filters both have a filter in each
//! lane instead of a position, where vectors are of 32 bytes or more: [`by_filters`]. `bf16` is multiplied in [`bf16_dot`] where the
//! machine does that.
//!
//! (The idea of a direct convolution without packing: Georganas et al. 2018, *Anatomy of
//! High-Performance Deep Learning Convolutions on SIMD Architectures*.)
//!
//! Not here: other steps than one (`conv2d`, by matrix products), and which of the two is taken.

mod bf16_dot;
mod by_filters;
mod convolve;
mod filters;
mod gradient;
mod plane;
mod relu;
mod source;
mod unpool;

pub(crate) use convolve::{Epilogue, Write, convolve};
pub(crate) use filters::{Filters, Order};
pub(crate) use gradient::gradient;
pub(crate) use plane::Plane;
pub(crate) use relu::{PoolWorkspace, Relu, ReluPool, pooled, window_places};
pub(crate) use source::{Given, Rectified};
pub(crate) use unpool::{Unpool, UnpoolWorkspace, rectified, unpool};

#[cfg(test)]
mod tests;
