//! Pooling over one to three axes. Drawn values are so far apart that no two share a maximum.

use dahl::ops::{PoolGeometry, adaptive_avg_pool_init, adaptive_max_pool_init, avg_pool_init, max_pool_init};

/// Tests of pooling by windows.
macro_rules! pooling {
    ($test:ident: $input:expr, $geometry:expr) => {
        mod $test {
            use super::*;

            gradients!(max: [input: $input], |tape| max_pool_init(tape, input, $geometry).map(|made| made.0));

            gradients!(average: [input: $input], |tape| avg_pool_init(tape, input, $geometry), with linear());
        }
    };
}

pooling!(of_signals: [2, 3, 7], PoolGeometry::new([3]).stride([2]).padding([1]).ceil());
pooling!(of_images: [1, 2, 5, 6], PoolGeometry::new([3, 2]).stride([1, 2]).dilation([2, 1]).without_padding());
pooling!(of_volumes: [1, 2, 4, 3, 5], PoolGeometry::new([2, 1, 3]).padding([1, 0, 1]));

gradients!(adaptive_max: [input: [2, 1, 5, 4]], |tape| adaptive_max_pool_init(tape, input, [3, 2]).map(|made| made.0));
gradients!(adaptive_average: [input: [2, 1, 5, 4]], |tape| adaptive_avg_pool_init(tape, input, [3, 5]), with linear());
