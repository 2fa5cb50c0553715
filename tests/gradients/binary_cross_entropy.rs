//! Binary cross-entropy, by prediction and target.

use dahl::ops::*;

gradients!(of_probabilities: [x: [4, 3] in 0.1..0.9, y: [4, 3] in 0.0..1.0],
    |tape| binary_cross_entropy_init(tape, x, y)
);

gradients!(of_logits: [x: [4, 3] in -6.0..6.0, y: [4, 3] in 0.0..1.0],
    |tape| binary_cross_entropy_with_logits_init(tape, x, y)
);

gradients!(of_logits_with_weights: [x: [4, 3] in -6.0..6.0, y: [4, 3] in 0.0..1.0, weight: [1, 3] in 0.5..2.0],
    |tape| binary_cross_entropy_with_logits_weighted_init(tape, x, y, weight)
);
