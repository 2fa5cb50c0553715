//! Euclidean norms.

use dahl::ops::{norm_axis_init, norm_init};

gradients!(of_all: [input: [3, 4]],
    |tape| norm_init(tape, input)
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |tape| norm_axis_init(tape, input, 0)
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |tape| norm_axis_init(tape, input, 1)
);
