//! Pooling.

use dahl::ops::{Pool2dGeometry, avg_pool2d_init, max_pool2d_init};

/// Tests of pooling images by windows. Drawn values are so far apart that no two share a maximum.
macro_rules! pooling {
    ($test:ident: $images:expr, size $size:expr, stride $stride:expr, padding $padding:expr) => {
        mod $test {
            use super::*;

            gradients!(max: [input: $images],
                |tape| max_pool2d_init(tape, input, Pool2dGeometry { size: $size, stride: $stride, padding: $padding })
            );

            gradients!(average: [input: $images],
                |tape| avg_pool2d_init(tape, input, Pool2dGeometry { size: $size, stride: $stride, padding: $padding }),
                with linear()
            );
        }
    };
}

pooling!(plain: [2, 3, 4, 6], size [2, 2], stride [2, 2], padding [0, 0]);
pooling!(of_windows_that_overlap: [1, 2, 5, 6], size [3, 2], stride [1, 1], padding [0, 0]);
pooling!(with_strides_and_padding: [2, 1, 7, 5], size [3, 3], stride [2, 3], padding [1, 1]);
