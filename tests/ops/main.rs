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

mod arg_extreme;
mod bias;
mod cast;
mod concat;
mod conv2d;
mod copy;
mod cross_entropy;
mod diag;
mod dot;
mod elementwise;
mod fill;
mod gather;
mod matmul;
mod norm;
mod one_hot;
mod parts;
mod pool2d;
mod product;
mod random;
mod reduce;
mod reduce_backward;
mod reference;
mod rotate;
mod shuffle;
mod slice;
mod softmax;
mod tile;
mod transpose;
mod variance;
