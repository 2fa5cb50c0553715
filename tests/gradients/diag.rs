//! Diagonals.

use dahl::ops::{diag_init, diagonal_init};

gradients!(of_a_vector: [input: [5]],
    |tape| diag_init(tape, input),
    with linear()
);

gradients!(of_a_wide_matrix: [input: [3, 5]],
    |tape| diagonal_init(tape, input),
    with linear()
);

gradients!(of_a_tall_matrix: [input: [4, 2]],
    |tape| diagonal_init(tape, input),
    with linear()
);
