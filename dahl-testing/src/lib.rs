//! Tests of numerics: compares the results of an op across element types, variants and kernels.
//!
//! One line in a test file gives an op a test for each element type, `axpy::f16`, `axpy::bf16`, `axpy::f32`,
//! `axpy::f64`, `axpy::types`, which compares the errors of all of them, and `axpy::gradient`, which checks the gradients if the
//! declaration has one:
//!
//! ```ignore
//! dahl::testing::numerics!(axpy: Axpy, ([31, 67], [31, 67], _), (T::from_f64(0.75),));
//! ```
//!
//! The arrays are in the order of the declaration, followed by the arguments; `T` is the element type. A shape is an
//! input; `_` is an output, whose shape `axpy_init` determines; [`within`], [`below`], [`typed`], [`holding`], [`output`] and
//! [`typed_output`] specify more. `cargo test ::f16` runs the tests of one type.
//!
//! [`compare`] describes what is compared, and [`Failure`] the errors. With `DAHL_NUMERICS_REPORT=dir` in the
//! environment, the figures of all comparisons are written to `dir`, as Markdown and JSON. `DAHL_TESTING_TIER=fast`
//! runs a part of the inputs: see [`Tier`].
//!
//! [`gradient`] describes the checks of gradients. [`gradients!`](gradients) checks those of an expression under a tape. [`forward_mode`] gives the derivative of a map to all digits, by [`Dual`] numbers.
//!
//! The modules: `operand`, `distribution`, `buffer` and `arrays` make inputs; `subject` runs the codelet; `oracle`
//! computes the expected results, in f64 or `double_double`; `bound` gives the allowed errors, in a `format`; `compare`
//! is the entry point; `examine` runs one case in all ways, with `expectation` and the checks in `fault`; `shrink`,
//! `digits` and `failure` report errors; `report` collects measurements, and `jump` compares them between types.

mod arrays;
mod bound;
mod buffer;
mod compare;
mod digits;
mod distribution;
mod double_double;
mod dual;
mod examine;
mod expectation;
mod failure;
mod fault;
mod format;
pub mod gradient;
mod jump;
mod operand;
mod oracle;
mod report;
mod shrink;
mod subject;
mod tier;

pub use arrays::{Arrays, Placement};
pub use compare::{compare, compare_in, compare_kernels};
pub use digits::Digits;
pub use distribution::Distribution;
pub use double_double::DoubleDouble;
pub use dual::{Dual, forward_mode};
pub use failure::{Check, Failure, Variant};
pub use jump::compare_types;
pub use operand::{
    Below, Describes, Input, Operand, Operands, Output, OutputOf, TypedOutput, Within, below, holding,
    output, typed, typed_output, within,
};
pub use report::{Compared, GradientSummary, Reference, Summary, json, markdown, record, record_gradients};
pub use tier::Tier;

#[doc(hidden)]
pub use dahl_core::__testing::RawOperand;
pub use dahl_core::codelet::{Kernel, Views};
pub use dahl_core::{bf16, f16};

/// Submits a task with a kernel that is not its codelet's, but has the same views and arguments.
///
/// # Errors
/// As [`submit`](dahl_core::Task::submit).
pub fn submit_to(task: dahl_core::Task<'_>, kernel: &'static Kernel) -> dahl_core::Result<()> {
    dahl_core::__testing::foreign_kernel(task, kernel).submit()
}

/// Tests the results of an operation, with one test for each element type, and its gradient: see the crate's documentation.
///
/// `numerics!(gradient of ..)` tests the gradient alone, of an operation whose results are compared elsewhere, and
/// `numerics!(results of ..)` the results alone: of inputs at which there is no derivative.
#[macro_export]
macro_rules! numerics {
    (gradient of $op:ident: $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {
        mod $op {
            $crate::__numerics_gradient!($op, $codelet, ($($operand)*), ($($argument),*));
        }
    };
    (results of $op:ident: $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {
        mod $op {
            $crate::__numerics_results!($op, $codelet, ($($operand)*), ($($argument),*));
        }
    };
    ($op:ident: $codelet:expr, ($($operand:tt)*), ($($argument:expr),* $(,)?)) => {
        mod $op {
            $crate::__numerics_results!($op, $codelet, ($($operand)*), ($($argument),*));
            $crate::__numerics_gradient!($op, $codelet, ($($operand)*), ($($argument),*));
        }
    };
}

/// The tests of results of [`numerics!`], inside of a module of the operation.
#[doc(hidden)]
#[macro_export]
macro_rules! __numerics_results {
    ($op:ident, $codelet:expr, ($($operand:tt)*), ($($argument:expr),*)) => {
        #[allow(unused_imports)]
        use super::*;

        macro_rules! test_in {
            ($test:ident, $element:ty) => {
                #[test]
                fn $test() {
                    match run::$test() {
                        Ok(summary) => $crate::record(env!("CARGO_PKG_NAME"), summary.clone()).unwrap(),
                        Err(failure) => panic!("\n{failure}"),
                    }
                }
            };
        }

        mod run {
            #[allow(unused_imports)]
            use super::super::*;

            macro_rules! run_in {
                ($test:ident, $element:ty) => {
                    pub(super) fn $test() -> &'static $crate::Compared {
                        #[allow(dead_code)]
                        type T = $element;
                        // The test of this type and the test of all types share it.
                        static COMPARED: ::std::sync::OnceLock<$crate::Compared> = ::std::sync::OnceLock::new();
                        COMPARED.get_or_init(|| $crate::compare_in::<T, _, _, _, _>(
                            $crate::Tier::from_env(),
                            stringify!($op),
                            $codelet,
                            &$crate::__numerics_operands!(T, [] $($operand)*),
                            ($($argument,)*),
                        ))
                    }
                };
            }

            run_in!(f16, $crate::f16);
            run_in!(bf16, $crate::bf16);
            run_in!(f32, ::core::primitive::f32);
            run_in!(f64, ::core::primitive::f64);
        }

        test_in!(f16, $crate::f16);
        test_in!(bf16, $crate::bf16);
        test_in!(f32, ::core::primitive::f32);
        test_in!(f64, ::core::primitive::f64);

        #[test]
        fn types() {
            let all = [run::f16(), run::bf16(), run::f32(), run::f64()];
            if let Err(failure) = $crate::compare_types(all) {
                panic!("\n{failure}");
            }
        }
    };
}

/// The test `gradient` of [`numerics!`], inside of a module of the operation.
#[doc(hidden)]
#[macro_export]
macro_rules! __numerics_gradient {
    ($op:ident, $codelet:expr, ($($operand:tt)*), ($($argument:expr),*)) => {
        #[test]
        fn gradient() {
            match $crate::gradient::compare_gradients(&differentiated::operations()) {
                Ok(found) => $crate::record_gradients(env!("CARGO_PKG_NAME"), found).unwrap(),
                Err(failure) => panic!("\n{failure}"),
            }
        }

        mod differentiated {
            #[allow(unused_imports)]
            use super::super::*;

            pub(super) fn operations() -> [$crate::gradient::Operation; 4] {
                macro_rules! operation_in {
                    ($element:ty) => {{
                        #[allow(dead_code)]
                        type T = $element;
                        $crate::gradient::Operation::new::<T, _, _, _, _>(
                            stringify!($op),
                            $codelet,
                            &$crate::__numerics_operands!(T, [] $($operand)*),
                            ($($argument,)*),
                        )
                    }};
                }
                [
                    operation_in!($crate::f16),
                    operation_in!($crate::bf16),
                    operation_in!(::core::primitive::f32),
                    operation_in!(::core::primitive::f64),
                ]
            }
        }
    };
}

/// The operands of [`numerics!`] as a tuple of descriptions.
#[doc(hidden)]
#[macro_export]
macro_rules! __numerics_operands {
    ($element:ty, [$($done:tt)*]) => { ($($done)*) };
    ($element:ty, [$($done:tt)*] _ $(, $($rest:tt)*)?) => {
        $crate::__numerics_operands!($element, [$($done)* $crate::Output,] $($($rest)*)?)
    };
    ($element:ty, [$($done:tt)*] $operand:expr $(, $($rest:tt)*)?) => {
        $crate::__numerics_operands!(
            $element,
            [$($done)* $crate::Describes::<$element>::describe($operand),]
            $($($rest)*)?
        )
    };
}
