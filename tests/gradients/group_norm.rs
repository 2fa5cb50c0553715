//! Normalisation over groups of channels.

use dahl::ops::group_norm_init;

gradients!(of_groups: [input: [2, 4, 2, 3] in -2.0..2.0, weight: [4], bias: [4]],
    |tape| group_norm_init(tape, input, weight, bias, 2, 0.1)
);

gradients!(of_samples: [input: [3, 6] in -2.0..2.0, weight: [6], bias: [6]],
    |tape| group_norm_init(tape, input, weight, bias, 1, 0.1)
);

gradients!(of_instances: [input: [2, 2, 5] in -2.0..2.0, weight: [2], bias: [2]],
    |tape| group_norm_init(tape, input, weight, bias, 2, 0.1)
);
