//! Diagonals.

use dahl::ops::{diag_init, diagonal_backward, diagonal_init};

use super::into;

gradients!(of_a_vector: [input: [5]],
    |arena| diag_init(arena, input),
    |_, gradient| [diagonal_init(arena, gradient)],
    with linear()
);

gradients!(of_a_wide_matrix: [input: [3, 5]],
    |arena| diagonal_init(arena, input),
    |_, gradient| [into(arena, input, |out| diagonal_backward(gradient, out))],
    with linear()
);

gradients!(of_a_tall_matrix: [input: [4, 2]],
    |arena| diagonal_init(arena, input),
    |_, gradient| [into(arena, input, |out| diagonal_backward(gradient, out))],
    with linear()
);
