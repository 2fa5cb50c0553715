//! The loss by its logits.

use dahl::ops::cross_entropy_init;

const LABELS: [u32; 4] = [2, 0, 2, 1];

gradients!(of_some_samples: [logits: [4, 3]],
    |tape| cross_entropy_init(tape, logits, &tape.detached().from_slice([4], &LABELS)?, 0.25)
);
