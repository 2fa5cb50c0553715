//! What the ops should compute: the same functions in `f64`, written plainly, which share no code with the kernels.
//!
//! A declaration names its reference, `reference = PATH`, and how near it comes, `error = CLASS`; the tests of the numbers
//! compare both. Where a sum is taken, it is compensated, so that it is better than that of the `f64` kernel.
//!
//! Not here: random numbers and orders (`uniform`, `normal`, `permutation`). What they should be is a distribution, not a
//! number; Philox is compared with its published vectors, and the distributions in the ops' own tests.

pub(crate) mod activation;
pub(crate) mod arg_extreme;
pub(crate) mod arithmetic;
pub(crate) mod bias;
pub(crate) mod comparison;
pub(crate) mod conv2d;
pub(crate) mod conv2d_relu;
pub(crate) mod cross_entropy;
pub(crate) mod error_function;
pub(crate) mod exponential;
pub(crate) mod hard_activation;
pub(crate) mod hyperbolic;
mod lane;
pub(crate) mod matmul;
pub(crate) mod moved;
pub(crate) mod norm;
pub(crate) mod pool2d;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod reduce_backward;
pub(crate) mod regression;
pub(crate) mod scattered;
pub(crate) mod softmax;
mod sum;
pub(crate) mod trigonometric;
pub(crate) mod variance;
mod window;
