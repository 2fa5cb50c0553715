//! The Kullback-Leibler divergence, by prediction and target.

use dahl::ops::{kl_divergence_init, kl_divergence_of_logarithms_init};

gradients!(of_probabilities: [x: [4, 3] in -5.0..-0.1, y: [4, 3] in 0.1..1.0],
    |tape| kl_divergence_init(tape, x, y)
);

gradients!(of_logarithms: [x: [4, 3] in -5.0..-0.1, y: [4, 3] in -5.0..-0.1],
    |tape| kl_divergence_of_logarithms_init(tape, x, y)
);
