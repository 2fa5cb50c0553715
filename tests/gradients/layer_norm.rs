//! Rows with mean 0 and variance 1, by input, weight and bias.

use dahl::ops::layer_norm_init;

gradients!(of_rows: [input: [3, 5], weight: [5], bias: [5]],
    |tape| layer_norm_init(tape, input, weight, bias, 0.25)
);

gradients!(of_a_batch: [input: [2, 3, 4] in -2.0..2.0, weight: [4], bias: [4]],
    |tape| layer_norm_init(tape, input, weight, bias, 1e-5)
);
