//! Normalisation over a batch.

use dahl::ops::{add_init, batch_norm_inference_init, batch_norm_init, mul_init};

gradients!(of_images: [input: [3, 2, 2, 3] in -2.0..2.0, weight: [2], bias: [2]],
    |tape| batch_norm_init(tape, input, weight, bias, 0.1).map(|made| made.0)
);

gradients!(of_samples: [input: [6, 3] in -2.0..2.0, weight: [3], bias: [3]],
    |tape| batch_norm_init(tape, input, weight, bias, 0.1).map(|made| made.0)
);

gradients!(of_the_mean: [input: [3, 2, 4], weight: [2], bias: [2]],
    |tape| batch_norm_init(tape, input, weight, bias, 0.1).map(|made| made.1)
);

gradients!(of_the_variance: [input: [3, 2, 4], weight: [2], bias: [2]],
    |tape| batch_norm_init(tape, input, weight, bias, 0.1).map(|made| made.2)
);

gradients!(of_all_outputs: [input: [3, 2, 4] in -2.0..2.0, weight: [2], bias: [2]],
    |tape| {
        let (out, mean, variance) = batch_norm_init(tape, input, weight, bias, 0.1)?;
        let statistics = mul_init(tape, &mean, &variance)?;
        add_init(tape, &out, &*statistics.reshaped([1, 2, 1])?)
    }
);

gradients!(of_inference:
    [input: [3, 2, 4], weight: [1, 2, 1], bias: [1, 2, 1], mean: [1, 2, 1], variance: [1, 2, 1] in 0.5..2.0],
    |tape| batch_norm_inference_init(tape, input, weight, bias, mean, variance, 0.1)
);
