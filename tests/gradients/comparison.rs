//! Selection by a mask, by size, and by bounds.

use dahl::ops::*;

/// Which elements are selected.
const MASK: [u8; 6] = [1, 0, 0, 1, 255, 0];

gradients!(select: [x: [2, 3], y: [2, 3]],
    |tape| select_init(tape, &tape.detached().from_slice([2, 3], &MASK)?, x, y),
    with linear()
);

gradients!(maximum: [x: [4, 5], y: [4, 5]],
    |tape| maximum_init(tape, x, y)
);

gradients!(minimum: [x: [4, 5], y: [4, 5]],
    |tape| minimum_init(tape, x, y)
);

function!(clip: Clip clip_init(-0.5, 0.75), x in -1.5..1.5, kink -0.5, kink 0.75);
