//! Every kernel compared with the reference of its operation: in each element type, on whole arrays and strided parts,
//! with inputs of every distribution.

use cuda_on_cpu::kernel;
use dahl::ops;
use dahl::prelude::*;
use dahl::testing::{Describes, Input, Tier, below, compare_kernels, holding, output, within};

/// Tests of a kernel, one for each element type.
macro_rules! on_cpu {
    ($test:ident: $kernel:ident of $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {
        on_cpu!($test: $kernel [] of $codelet, ($($operand)*), ($($argument),*));
    };
    // With further types in the kernel's name.
    ($test:ident: $kernel:ident [$($types:expr),*] of $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {
        mod $test {
            #[allow(unused_imports)]
            use super::*;

            macro_rules! test_in {
                ($name:ident, $element:ty) => {
                    #[test]
                    fn $name() {
                        type T = $element;
                        let compared = compare_kernels::<T, _, _, _, _>(
                            Tier::from_env(),
                            stringify!($test),
                            $codelet,
                            &dahl::__numerics_operands!(T, [] $($operand)*),
                            ($($argument,)*),
                            kernel(stringify!($kernel), &[stringify!($name) $(, $types)*]),
                        );
                        if let Err(failure) = compared {
                            panic!("\n{failure}");
                        }
                    }
                };
            }

            test_in!(f16, dahl::f16);
            test_in!(bf16, dahl::bf16);
            test_in!(f32, f32);
            test_in!(f64, f64);
        }
    };
}

#[path = "numerics/attention.rs"]
mod attention;
#[path = "numerics/conv2d_relu.rs"]
mod conv2d_relu;
#[path = "numerics/convolution.rs"]
mod convolution;
#[path = "numerics/extremes.rs"]
mod extremes;
#[path = "numerics/layers.rs"]
mod layers;
#[path = "numerics/losses.rs"]
mod losses;
#[path = "numerics/moments.rs"]
mod moments;
#[path = "numerics/moved.rs"]
mod moved;
#[path = "numerics/normalized.rs"]
mod normalized;
#[path = "numerics/padded.rs"]
mod padded;
#[path = "numerics/pools.rs"]
mod pools;
#[path = "numerics/products.rs"]
mod products;
#[path = "numerics/recurrent.rs"]
mod recurrent;
#[path = "numerics/reduce.rs"]
mod reduce;
#[path = "numerics/segments.rs"]
mod segments;
