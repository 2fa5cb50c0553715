//! Products of elements.

use dahl::ops::{product_axis_backward_init, product_axis_init, product_backward_init, product_init};

gradients!(of_all: [input: [2, 4]],
    |arena| product_init(arena, input),
    |_, gradient| [product_backward_init(arena, input, gradient)]
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |arena| product_axis_init(arena, input, 0),
    |_, gradient| [product_axis_backward_init(arena, input, gradient, 0)]
);

gradients!(along_the_last_axis: [input: [2, 3, 4]],
    |arena| product_axis_init(arena, input, 2),
    |_, gradient| [product_axis_backward_init(arena, input, gradient, 2)]
);
