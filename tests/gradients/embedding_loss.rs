//! Losses of pairs that are alike or not.

use dahl::ops::{cosine_embedding_init, hinge_embedding_init};

/// Alike, not alike, and neither.
const TARGETS: [f64; 5] = [1.0, -1.0, -1.0, 1.0, 0.5];

gradients!(hinge_embedding: [x: [5] in 0.1..2.0],
    |tape| hinge_embedding_init(tape, x, &tape.detached().from_slice([5], &TARGETS)?, 1.0)
);

gradients!(cosine_embedding: [left: [5, 4], right: [5, 4]],
    |tape| cosine_embedding_init(tape, left, right, &tape.detached().from_slice([5], &TARGETS)?, -0.9),
    first only
);
