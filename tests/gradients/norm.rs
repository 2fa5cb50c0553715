//! Euclidean norms.

use dahl::ops::{norm_axis_backward_init, norm_axis_init, norm_backward_init, norm_init};

gradients!(of_all: [input: [3, 4]],
    |arena| norm_init(arena, input),
    |_, gradient| [norm_backward_init(arena, input, gradient)]
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |arena| norm_axis_init(arena, input, 0),
    |_, gradient| [norm_axis_backward_init(arena, input, gradient, 0)]
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |arena| norm_axis_init(arena, input, 1),
    |_, gradient| [norm_axis_backward_init(arena, input, gradient, 1)]
);
