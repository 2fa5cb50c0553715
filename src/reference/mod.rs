//! References of the operations: the same functions in `f64`, written plainly, which share no code with the kernels.
//!
//! A declaration names its reference, `reference = PATH`, and its error class, `error = CLASS`. The tests of numerics
//! compare the operation with the reference. Sums are compensated, so that the reference is more accurate than the
//! `f64` kernel.
//!
//! Not here: random numbers and permutations (`uniform`, `normal`, `permutation`, `bernoulli`, ..), whose definition is a
//! distribution and not a number. Tests compare Philox with its published vectors, and the operations' own tests check the
//! distributions.

pub(crate) mod activation;
pub(crate) mod arg_extreme;
pub(crate) mod arithmetic;
pub(crate) mod attention;
pub(crate) mod batch_norm;
pub(crate) mod bias;
pub(crate) mod binary_cross_entropy;
pub(crate) mod comparison;
pub(crate) mod conv2d;
pub(crate) mod conv2d_relu;
pub(crate) mod convolution;
pub(crate) mod cross_entropy;
pub(crate) mod cross_entropy_weighted;
pub(crate) mod cumulative_sum;
pub(crate) mod divergence;
pub(crate) mod dropout;
pub(crate) mod embedding_loss;
pub(crate) mod error_function;
mod gate;
pub(crate) mod gru_cell;
pub(crate) mod hard_activation;
pub(crate) mod heads;
pub(crate) mod huber;
pub(crate) mod hyperbolic;
mod lane;
pub(crate) mod layer_norm;
pub(crate) mod lstm_cell;
pub(crate) mod matmul;
pub(crate) mod moved;
pub(crate) mod norm;
pub(crate) mod padded;
pub(crate) mod pool;
pub(crate) mod pool2d;
pub(crate) mod product;
pub(crate) mod reduce;
pub(crate) mod reduce_backward;
pub(crate) mod regression;
pub(crate) mod rotary;
pub(crate) mod scattered;
pub(crate) mod segment;
pub(crate) mod softmax;
pub(crate) mod sort;
mod sum;
pub(crate) mod sum_axes;
pub(crate) mod upsample;
pub(crate) mod variance;
mod window;
