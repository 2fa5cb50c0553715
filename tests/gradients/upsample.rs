//! Other spatial extents.

use dahl::ops::{upsample_linear_init, upsample_nearest_init};

gradients!(nearest: [input: [2, 2, 3, 4]], |tape| upsample_nearest_init(tape, input, [7, 3]), with linear());
gradients!(linear: [input: [2, 2, 5]], |tape| upsample_linear_init(tape, input, [9], false), with linear());
gradients!(bilinear: [input: [2, 1, 3, 4]], |tape| upsample_linear_init(tape, input, [7, 3], false), with linear());
gradients!(with_corners: [input: [1, 2, 2, 3, 2]], |tape| upsample_linear_init(tape, input, [3, 5, 4], true), with linear());
