//! Every op against the plain loops in `reference`: each element type, each variant, odd shapes, special values, and
//! wrong shapes at the call. A file an op, as in `src/ops`.

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

mod bias;
mod cast;
mod conv2d;
mod copy;
mod cross_entropy;
mod dot;
mod elementwise;
mod fill;
mod matmul;
mod one_hot;
mod parts;
mod pool2d;
mod random;
mod reduce;
mod reference;
mod shuffle;
mod softmax;
mod transpose;
