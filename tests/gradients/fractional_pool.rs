//! Windows at random distances.

use dahl::ops::{Philox, fractional_max_pool_init};

gradients!(of_images: [input: [2, 2, 6, 5]],
    |tape| fractional_max_pool_init(tape, input, [2, 1], [4, 3], Philox::new(1)).map(|made| made.0)
);
