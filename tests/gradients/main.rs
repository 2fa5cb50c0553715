//! Gradients by a tape compared with differences, in f64: the first ones with differences of the operation, and the
//! second ones with differences of the first. In `checker`: the check finds mistakes.

use std::error::Error;

use dahl::prelude::*;

/// As [`dahl::testing::gradients!`].
macro_rules! gradients {
    ($($test:tt)*) => {
        dahl::testing::gradients! { $($test)* }
    };
}

fn runtime() -> Result<Runtime, Box<dyn Error>> {
    Ok(Runtime::builder().cpu_workers(2).build()?)
}

/// Tests of a map of one array: against differences, and its first gradient against dual numbers to all digits.
macro_rules! function {
    ($test:ident: $Op:ident $op:ident($($argument:expr),*), x in $range:expr $(, kink $kink:expr)*) => {
        gradients!(
            $test: [x: [4, 5] in $range],
            |tape| $op(tape, x $(, $argument)*),
            tangent dahl::testing::forward_mode(|x, out| {
                dahl::ops::codelets::$Op::cpu(x[0], out $(, dahl::prelude::Real::from_f64($argument))*)
            }),
            with $(kink($kink)),*
        );
    };
}

mod activation;
mod arithmetic;
mod attention;
mod batch_norm;
mod bias;
mod binary_cross_entropy;
mod checker;
mod comparison;
mod conv2d;
mod convolution;
mod cross_entropy;
mod cross_entropy_weighted;
mod ctc;
mod cumulative_sum;
mod diag;
mod divergence;
mod embedding_loss;
mod error_function;
mod exponential;
mod fractional_pool;
mod gather;
mod group_norm;
mod hard_activation;
mod huber;
mod hyperbolic;
mod layer_norm;
mod matmul;
mod matmul_batched;
mod nll;
mod norm;
mod pad;
mod permute;
mod pool;
mod pool2d;
mod product;
mod reduce;
mod regression;
mod rms_norm;
mod rotary;
mod segment;
mod slice;
mod softmax;
mod sort;
mod third;
mod tile;
mod trigonometric;
mod upsample;
mod variance;
