//! Softmax along an axis, and its logarithm.

use dahl::ops::{log_softmax_init, softmax_init};

gradients!(along_the_last_axis: [input: [4, 5] in -3.0..3.0],
    |tape| softmax_init(tape, input, 1)
);

gradients!(along_the_middle_axis: [input: [2, 3, 4] in -3.0..3.0],
    |tape| softmax_init(tape, input, 1)
);

gradients!(log_along_the_last_axis: [input: [4, 5] in -3.0..3.0],
    |tape| log_softmax_init(tape, input, 1)
);

gradients!(log_along_the_first_axis: [input: [4, 5] in -3.0..3.0],
    |tape| log_softmax_init(tape, input, 0)
);
