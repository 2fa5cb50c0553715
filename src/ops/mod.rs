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

mod bias;
mod cast;
mod conv2d;
mod copy;
mod cross_entropy;
mod dot;
mod elementwise;
mod fill;
mod label;
mod matmul;
mod one_hot;
mod pool2d;
mod random;
mod reduce;
mod shuffle;
mod softmax;
mod transpose;

pub use bias::*;
pub use cast::*;
pub use conv2d::*;
pub use copy::*;
pub use cross_entropy::*;
pub use dot::*;
pub use elementwise::*;
pub use fill::*;
pub use label::*;
pub use matmul::*;
pub use one_hot::*;
pub use pool2d::*;
pub use random::*;
pub use reduce::*;
pub use shuffle::*;
pub use softmax::*;
pub use transpose::*;
