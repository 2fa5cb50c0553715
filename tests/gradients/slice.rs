//! Ranges along an axis.

use dahl::ops::{slice_backward, slice_init};

use super::into;

gradients!(of_rows: [input: [5, 3]],
    |arena| slice_init(arena, input, 0, 1, 3),
    |_, gradient| [into(arena, input, |out| slice_backward(gradient, out, 0, 1))],
    with linear()
);

gradients!(of_columns: [input: [2, 3, 5]],
    |arena| slice_init(arena, input, 2, 3, 2),
    |_, gradient| [into(arena, input, |out| slice_backward(gradient, out, 2, 3))],
    with linear()
);
