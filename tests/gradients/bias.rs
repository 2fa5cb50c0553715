//! Adding a vector along an axis.

use dahl::ops::{bias_backward_init, bias_init, copy_init};

gradients!(of_rows: [input: [5, 3], b: [3]],
    |arena| bias_init(arena, input, b, 1),
    |_, gradient| [copy_init(arena, gradient), bias_backward_init(arena, gradient, 1)],
    with linear()
);

gradients!(of_images: [input: [2, 3, 4, 2], b: [3]],
    |arena| bias_init(arena, input, b, 1),
    |_, gradient| [copy_init(arena, gradient), bias_backward_init(arena, gradient, 1)],
    with linear()
);

gradients!(along_the_first_axis: [input: [4, 3], b: [4]],
    |arena| bias_init(arena, input, b, 0),
    |_, gradient| [copy_init(arena, gradient), bias_backward_init(arena, gradient, 0)],
    with linear()
);
