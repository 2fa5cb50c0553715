//! Variances.

use dahl::ops::{variance_axis_backward_init, variance_axis_init, variance_backward_init, variance_init};

gradients!(of_all: [input: [3, 4]],
    |arena| variance_init(arena, input, 1),
    |_, gradient| [variance_backward_init(arena, input, gradient, 1)]
);

gradients!(of_a_population: [input: [3, 4]],
    |arena| variance_init(arena, input, 0),
    |_, gradient| [variance_backward_init(arena, input, gradient, 0)]
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |arena| variance_axis_init(arena, input, 0, 1),
    |_, gradient| [variance_axis_backward_init(arena, input, gradient, 0, 1)]
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |arena| variance_axis_init(arena, input, 1, 0),
    |_, gradient| [variance_axis_backward_init(arena, input, gradient, 1, 0)]
);
