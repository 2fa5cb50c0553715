//! Rows divided by their root mean square, by input and weight.

use dahl::ops::rms_norm_init;

gradients!(of_rows: [input: [3, 5], weight: [5]],
    |tape| rms_norm_init(tape, input, weight, 0.25)
);

gradients!(of_a_batch: [input: [2, 3, 4] in -2.0..2.0, weight: [4]],
    |tape| rms_norm_init(tape, input, weight, 1e-5)
);
