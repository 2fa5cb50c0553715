//! The operations, each declared with [`#[codelet]`](macro@crate::codelet) as a user's would be.
//!
//! From each declaration come a function that writes into a given output (`matmul`), one that makes its output in an
//! arena (`matmul_init`), and, where an output can take the place of an input, one that overwrites it (`add_self`). All
//! take arrays, submit a task and return; what is wrong with shapes is an error at the call.
//!
//! Images are `[batch, channels, rows, cols]`, filters `[out_channels, in_channels, kernel rows, kernel cols]`, and
//! matrices of samples `[batch, features]`, as in PyTorch. Half-precision types compute and accumulate in `f32` and
//! round once. An op on a batch is one task; several tasks on parts of a batch give the same result, and the ops
//! that sum over a batch add to their output (mode `REDUX`), so that parts add up.
//!
//! Not here: layers, losses and optimizers, which are made of these ops (`dahl-nn`), and the packing and matrix products
//! under them (`cpu`).

mod activation;
mod arg_extreme;
mod arithmetic;
mod bias;
mod cast;
mod comparison;
mod concat;
mod conv2d;
mod conv2d_relu;
mod copy;
mod cross_entropy;
mod diag;
mod dot;
mod error_function;
mod exponential;
mod fill;
mod gather;
mod hard_activation;
mod hyperbolic;
mod label;
mod matmul;
mod norm;
mod one_hot;
mod pool2d;
mod product;
mod random;
mod reduce;
mod reduce_backward;
mod regression;
mod rotate;
mod rounding;
mod shuffle;
mod slice;
mod softmax;
mod softmax_backward;
mod tile;
mod transpose;
mod trigonometric;
mod variance;

pub use activation::*;
pub use arg_extreme::*;
pub use arithmetic::*;
pub use bias::*;
pub use cast::*;
pub use comparison::*;
pub use concat::*;
pub use conv2d::*;
pub use conv2d_relu::*;
pub use copy::*;
pub use cross_entropy::*;
pub use diag::*;
pub use dot::*;
pub use error_function::*;
pub use exponential::*;
pub use fill::*;
pub use gather::*;
pub use hard_activation::*;
pub use hyperbolic::*;
pub use label::*;
pub use matmul::*;
pub use norm::*;
pub use one_hot::*;
pub use pool2d::*;
pub use product::*;
pub use random::*;
pub use reduce::*;
pub use reduce_backward::*;
pub use regression::*;
pub use rotate::*;
pub use rounding::*;
pub use shuffle::*;
pub use slice::*;
pub use softmax::*;
pub use softmax_backward::*;
pub use tile::*;
pub use transpose::*;
pub use trigonometric::*;
pub use variance::*;
