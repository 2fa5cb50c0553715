//! Picking elements by index.

use dahl::ops::{gather_backward, gather_init, index_select_backward, index_select_init};

use super::into;

/// Indices that occur several times, and some that never do.
const INDEX: [u32; 6] = [3, 0, 3, 1, 1, 3];

gradients!(gather: [input: [4, 3]],
    |arena| gather_init(arena, input, &arena.from_slice([2, 3], &INDEX)?, 0),
    |_, gradient| [into(arena, input, |out| {
        gather_backward(gradient, &arena.from_slice([2, 3], &INDEX)?, out, 0)
    })],
    with linear()
);

gradients!(gather_along_the_last_axis: [input: [2, 2, 4]],
    |arena| gather_init(arena, input, &arena.from_slice([1, 2, 3], &INDEX)?, 2),
    |_, gradient| [into(arena, input, |out| {
        gather_backward(gradient, &arena.from_slice([1, 2, 3], &INDEX)?, out, 2)
    })],
    with linear()
);

gradients!(index_select: [input: [4, 3]],
    |arena| index_select_init(arena, input, &arena.from_slice([6], &INDEX)?, 0),
    |_, gradient| [into(arena, input, |out| {
        index_select_backward(gradient, &arena.from_slice([6], &INDEX)?, out, 0)
    })],
    with linear()
);

gradients!(index_select_along_the_last_axis: [input: [2, 4]],
    |arena| index_select_init(arena, input, &arena.from_slice([6], &INDEX)?, 1),
    |_, gradient| [into(arena, input, |out| {
        index_select_backward(gradient, &arena.from_slice([6], &INDEX)?, out, 1)
    })],
    with linear()
);
