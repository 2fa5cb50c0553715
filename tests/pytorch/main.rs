//! Every op that PyTorch has too against PyTorch's results, at the tolerances of `torch.testing.assert_close`. A file a
//! stem of `src/ops`, as in `fixtures`, which `make_fixtures.py` makes; [`report`] tabulates what was compared.

/// Makes a test of each function for each real type, which has a number of cases
/// at least, and lists all in `OPS`.
macro_rules! for_each_real {
    (at least $cases:literal: $($test:ident),* $(,)?) => {
        $(mod $test {
            #[test]
            fn f16() {
                super::$test::<dahl::f16>().assert_enough($cases);
            }

            #[test]
            fn bf16() {
                super::$test::<dahl::bf16>().assert_enough($cases);
            }

            #[test]
            fn f32() {
                super::$test::<f32>().assert_enough($cases);
            }

            #[test]
            fn f64() {
                super::$test::<f64>().assert_enough($cases);
            }
        })*

        /// What these compare, op by op, for the report.
        pub(crate) const OPS: &[crate::pytorch::report::Row] = &[$((
            stringify!($test),
            [$test::<dahl::f16>, $test::<dahl::bf16>, $test::<f32>, $test::<f64>],
        )),*];
    };
}

mod bias;
mod cast;
mod closeness;
mod comparison;
mod conv2d;
mod cross_entropy;
mod difference;
mod dot;
mod elementwise;
mod fixture;
mod matmul;
mod moved;
mod one_hot;
mod pool2d;
mod reduce;
mod regression;
mod report;
mod softmax;
