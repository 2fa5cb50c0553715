//! Direct convolution with a stride of one, from the image itself, without packing patches.
//!
//! An image gets a border of zeros, so its rows are `width = columns + 2 padding` long, one behind the other in a
//! plane. The sum for row `r` and column `c` of the output is at position `p = r * width + c`, and tap `[j, k]` of the
//! kernel multiplies `plane[p + j * width + k]` there; with a dilation, `j` and `k` count times that. So for each tap,
//! neighbouring positions need neighbouring elements, and a vector of positions is one load, wherever rows end. Of every
//! `width` positions, `kernel columns - 1` (times the dilation) lie between two rows of the output; their sums are not used.
//!
//! * [`convolve`]: keeps the sums of a few filters at a few vectors of positions in registers, over all channels and
//!   taps. The gradient by the input is the same, with rotated filters and with the gradient as the image.
//! * [`gradient`]: keeps the sums of a few filters and taps in registers, over all positions.
//!
//! Each has these loops in a module `by_positions`, compiled for the compute type alone.
//!
//! Both need one load for several multiplications, for one channel as for hundreds. With many filters, and vectors of
//! 32 bytes or more, both have a filter in each lane instead of a position: [`by_filters`]. [`bf16_dot`] multiplies
//! `bf16` where the machine has an instruction for that.
//!
//! (The idea of a direct convolution without packing: Georganas et al. 2018, *Anatomy of High-Performance Deep Learning
//! Convolutions on SIMD Architectures*.)
//!
//! Not here: other strides (`conv2d`, by matrix products), and the choice between both.

mod bf16_dot;
mod by_filters;
mod convolve;
mod filters;
mod gradient;
mod images;
mod plane;
mod relu;
mod source;
mod unpool;

pub(crate) use convolve::{Epilogue, Write, convolve};
pub(crate) use filters::{Filters, Order};
pub(crate) use gradient::gradient;
pub(crate) use images::Images;
pub(crate) use plane::Plane;
pub(crate) use relu::{PoolWorkspace, Relu, ReluPool, pooled, window_places};
pub(crate) use source::{Given, Rectified};
pub(crate) use unpool::{Unpool, UnpoolWorkspace, rectified, unpool};

#[cfg(test)]
mod tests;
