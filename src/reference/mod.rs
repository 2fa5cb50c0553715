//! What the ops should compute: plain loops in `f64`, which share no code with the kernels. The options `reference` and
//! `error` of the declarations name them; the tests of the numbers run them.
//!
//! Not here: random numbers and orders (`uniform`, `normal`, `permutation`). What they should be is a distribution, not a
//! number; Philox is compared with its published vectors, and the distributions in the ops' own tests.

pub(crate) mod arg_extreme;
pub(crate) mod bias;
pub(crate) mod conv2d;
pub(crate) mod cross_entropy;
mod lane;
pub(crate) mod matmul;
pub(crate) mod moved;
pub(crate) mod norm;
pub(crate) mod pool2d;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod reduce_backward;
pub(crate) mod scattered;
pub(crate) mod softmax;
mod sum;
pub(crate) mod variance;
mod window;
