//! Every op's numbers: each element type, variant and kernel against the reference, on inputs of every distribution.

use dahl::ops;
use dahl::prelude::*;
use dahl::testing::numerics;

mod activation;
mod arithmetic;
mod comparison;
mod error_function;
mod exponential;
mod hard_activation;
mod hyperbolic;
mod regression;
mod rounding;
mod trigonometric;
