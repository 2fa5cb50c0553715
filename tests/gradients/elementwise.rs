//! Functions of single elements.

use dahl::ops::*;

gradients!(tanh: [x: [3, 5]],
    |arena| tanh_init(arena, x),
    |out, gradient| [tanh_backward_init(arena, out, gradient)]
);

gradients!(sigmoid: [x: [3, 5]],
    |arena| sigmoid_init(arena, x),
    |out, gradient| [sigmoid_backward_init(arena, out, gradient)]
);

gradients!(relu: [x: [3, 5]],
    |arena| relu_init(arena, x),
    |_, gradient| [relu_backward_init(arena, x, gradient)]
);
