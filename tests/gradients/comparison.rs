//! Selection by a mask, by size, and by bounds.

use dahl::ops::*;

/// Which elements are selected.
const MASK: [u8; 6] = [1, 0, 0, 1, 255, 0];

gradients!(select: [x: [2, 3], y: [2, 3]],
    |arena| select_init(arena, &arena.from_slice([2, 3], &MASK)?, x, y),
    |_, gradient| [
        select_backward_init(arena, &arena.from_slice([2, 3], &MASK)?, gradient),
        select_backward_init(arena, &arena.from_slice([2, 3], &MASK.map(|mask| u8::from(mask == 0)))?, gradient),
    ],
    with linear()
);

gradients!(maximum: [x: [4, 5], y: [4, 5]],
    |arena| maximum_init(arena, x, y),
    |_, gradient| [maximum_backward_init(arena, x, y, gradient), maximum_backward_init(arena, y, x, gradient)]
);

gradients!(minimum: [x: [4, 5], y: [4, 5]],
    |arena| minimum_init(arena, x, y),
    |_, gradient| [minimum_backward_init(arena, x, y, gradient), minimum_backward_init(arena, y, x, gradient)]
);

function!(clip: clip_init, clip_backward_init(x, -0.5, 0.75), x in -1.5..1.5, kink -0.5, kink 0.75);
