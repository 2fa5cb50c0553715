//! Every op that PyTorch has too, compared with PyTorch's results, at the tolerances of `torch.testing.assert_close`.
//! There is a file for each of `src/ops`, as in `fixtures`, which `make_fixtures.py` makes, and [`autograd`] for gradients of
//! those without any there; [`report`] makes a table of the comparisons.

/// Makes a test of each function for each real type, which has a number of cases
/// at least, and lists all in `OPS`. Each is called once, for its test and the report.
macro_rules! for_each_real {
    (at least $cases:literal: $($test:ident),* $(,)?) => {
        $(mod $test {
            pub(super) const TALLIES: crate::pytorch::report::ClosenessOfTypes = [
                || once!(super::$test::<dahl::f16>),
                || once!(super::$test::<dahl::bf16>),
                || once!(super::$test::<f32>),
                || once!(super::$test::<f64>),
            ];

            #[test]
            fn f16() {
                TALLIES[0]().assert_enough($cases);
            }

            #[test]
            fn bf16() {
                TALLIES[1]().assert_enough($cases);
            }

            #[test]
            fn f32() {
                TALLIES[2]().assert_enough($cases);
            }

            #[test]
            fn f64() {
                TALLIES[3]().assert_enough($cases);
            }
        })*

        /// The comparisons of this module, op by op, for the report.
        pub(crate) const OPS: &[crate::pytorch::report::Row] = &[$((stringify!($test), $test::TALLIES)),*];
    };
}

/// The result of a function, which is called only the first time.
macro_rules! once {
    ($compare:expr) => {{
        static CLOSENESS: std::sync::OnceLock<crate::pytorch::closeness::Closeness> =
            std::sync::OnceLock::new();
        CLOSENESS.get_or_init($compare)
    }};
}

mod autograd;
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
