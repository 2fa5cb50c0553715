//! Every op compared with the plain loops in `reference`: each element type, each variant, odd shapes, special values,
//! and wrong shapes at the call. Each op has a file, as in `src/ops`.

#![allow(clippy::approx_constant, reason = "expected values are written as decimals")]

/// Makes tests of functions that are generic over the element type, one for each real type.
macro_rules! for_each_real {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn f16() {
                super::$test::<dahl::f16>();
            }

            #[test]
            fn bf16() {
                super::$test::<dahl::bf16>();
            }

            #[test]
            fn f32() {
                super::$test::<f32>();
            }

            #[test]
            fn f64() {
                super::$test::<f64>();
            }
        }
    )*};
}

/// Tables of the results of an op of one array: `(x, result)`, in `f32`. (All types are compared in `numerics`.)
macro_rules! values_of_one {
    ($($op:ident($($argument:expr),*): [$(($x:expr, $expected:expr)),* $(,)?];)*) => {$(
        #[test]
        fn $op() {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let cases: &[(f64, f64)] = &[$(($x, $expected)),*];
            let x = rt.from_vec([cases.len()], cases.iter().map(|case| case.0 as f32).collect()).unwrap();
            let results = ops::$op(&arena, &x $(, $argument)*).unwrap().to_vec().unwrap();
            for (&(x, expected), result) in cases.iter().zip(results) {
                assert_value(stringify!($op), &[x], result, expected);
            }
        }
    )*};
}

/// Tables of the results of an op of two arrays: `(x, y, result)`, in `f32`.
macro_rules! values_of_two {
    ($($op:ident($($argument:expr),*): [$(($x:expr, $y:expr, $expected:expr)),* $(,)?];)*) => {$(
        #[test]
        fn $op() {
            let rt = Runtime::new().unwrap();
            let arena = rt.arena();
            let cases: &[(f64, f64, f64)] = &[$(($x, $y, $expected)),*];
            let x = rt.from_vec([cases.len()], cases.iter().map(|case| case.0 as f32).collect()).unwrap();
            let y = rt.from_vec([cases.len()], cases.iter().map(|case| case.1 as f32).collect()).unwrap();
            let results = ops::$op(&arena, &x, &y $(, $argument)*).unwrap().to_vec().unwrap();
            for (&(x, y, expected), result) in cases.iter().zip(results) {
                assert_value(stringify!($op), &[x, y], result, expected);
            }
        }
    )*};
}

/// Tables of the gradients by a tape of an op of one array: `(x, gradient by the result, gradient by x)`, in `f32`.
macro_rules! gradients_of_one {
    ($($test:ident: $op:ident($($argument:expr),*): [$(($x:expr, $gradient:expr, $expected:expr)),* $(,)?];)*) => {$(
        #[test]
        fn $test() {
            let rt = Runtime::new().unwrap();
            let tape = rt.tape();
            let cases: &[(f64, f64, f64)] = &[$(($x, $gradient, $expected)),*];
            let x = rt.from_vec([cases.len()], cases.iter().map(|case| case.0 as f32).collect()).unwrap();
            let gradient = rt.from_vec([cases.len()], cases.iter().map(|case| case.1 as f32).collect()).unwrap();
            let out = ops::$op(&tape, &x $(, $argument)*).unwrap();
            let results = tape.gradients_from(&out, &gradient, &x).unwrap().to_vec().unwrap();
            for (&(x, gradient, expected), result) in cases.iter().zip(results) {
                assert_value(stringify!($test), &[x, gradient], result, expected);
            }
        }
    )*};
}

mod activation;
mod adaptive_pool;
mod arg_extreme;
mod arithmetic;
mod attention;
mod batch_norm;
mod bias;
mod binary_cross_entropy;
mod cast;
mod comparison;
mod concat;
mod conv2d;
mod conv2d_relu;
mod convolution;
mod copy;
mod cross_entropy;
mod cross_entropy_weighted;
mod ctc;
mod cumulative_sum;
mod diag;
mod divergence;
mod dot;
mod elementwise;
mod embedding_loss;
mod error_function;
mod exponential;
mod fill;
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
mod one_hot;
mod pad;
mod parts;
mod permute;
mod pool;
mod pool2d;
mod product;
mod random;
mod recurrent;
mod reduce;
mod reduce_backward;
mod reference;
mod regression;
mod rms_norm;
mod rotary;
mod rotate;
mod rounding;
mod sampling;
mod segment;
mod shuffle;
mod slice;
mod softmax;
mod sort;
mod sum_axes;
mod tile;
mod transpose;
mod trigonometric;
mod upsample;
mod variance;

// One program, so that each kernel is compiled once.
#[path = "../gradients/main.rs"]
mod gradients;
#[path = "../numerics/main.rs"]
mod numerics;
#[path = "../pytorch/main.rs"]
mod pytorch;
