//! Rotations, whose gradients are rotations.

use dahl::ops::{RotaryPositions, rotary_init};

gradients!(of_tokens: [input: [3, 4]],
    |tape| rotary_init(tape, input, RotaryPositions::default()),
    with linear()
);

gradients!(of_heads_after_others: [input: [2, 3, 6]],
    |tape| rotary_init(tape, input, RotaryPositions::default().base(7.0).offset(5)),
    with linear()
);
