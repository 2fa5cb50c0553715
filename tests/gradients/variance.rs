//! Variances.

use dahl::ops::{variance_axis_init, variance_init};

gradients!(of_all: [input: [3, 4]],
    |tape| variance_init(tape, input, 1)
);

gradients!(of_a_population: [input: [3, 4]],
    |tape| variance_init(tape, input, 0)
);

gradients!(along_the_first_axis: [input: [3, 4]],
    |tape| variance_axis_init(tape, input, 0, 1)
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |tape| variance_axis_init(tape, input, 1, 0)
);
