//! The loss by its logits.

use dahl::ops::{cross_entropy_backward_init, cross_entropy_init};

const LABELS: [u32; 4] = [2, 0, 2, 1];

gradients!(of_some_samples: [logits: [4, 3]],
    |arena| cross_entropy_init(arena, logits, &arena.from_slice([4], &LABELS)?, 0.25),
    |_, gradient| [{
        let factor = 0.25 * gradient.read()?[[]];
        cross_entropy_backward_init(arena, logits, &arena.from_slice([4], &LABELS)?, factor)
    }]
);
