//! Products of elements.

use dahl::ops::{product_axis_init, product_init};

gradients!(of_all: [input: [2, 4]],
    |tape| product_init(tape, input),
    first only
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |tape| product_axis_init(tape, input, 0),
    first only
);

gradients!(along_the_last_axis: [input: [2, 3, 4]],
    |tape| product_axis_init(tape, input, 2),
    first only
);
