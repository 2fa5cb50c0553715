//! Ranges along an axis.

use dahl::ops::slice_init;

gradients!(of_rows: [input: [5, 3]],
    |tape| slice_init(tape, input, 0, 1, 3),
    with linear()
);

gradients!(of_columns: [input: [2, 3, 5]],
    |tape| slice_init(tape, input, 2, 3, 2),
    with linear()
);
