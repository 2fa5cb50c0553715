//! The numerics of every op: each element type, variant and kernel compared with the reference, on inputs of every
//! distribution.

use dahl::ops;
use dahl::prelude::*;
use dahl::testing::{below, numerics, output, within};

mod activation;
mod arg_extreme;
mod arithmetic;
mod attention;
mod batch_norm;
mod bias;
mod binary_cross_entropy;
mod comparison;
mod conv2d;
mod conv2d_relu;
mod convolution;
mod cross_entropy;
mod cross_entropy_weighted;
mod cumulative_sum;
mod divergence;
mod embedding_loss;
mod error_function;
mod exponential;
mod hard_activation;
mod huber;
mod hyperbolic;
mod layer_norm;
mod matmul;
mod moved;
mod norm;
mod padded;
mod pool;
mod pool2d;
mod product;
mod reduce;
mod reduce_backward;
mod regression;
mod rotary;
mod rounding;
mod scattered;
mod segment;
mod softmax;
mod sort;
mod trigonometric;
mod upsample;
mod variance;
