//! Repetitions along an axis.

use dahl::ops::{tile_backward_init, tile_init};

gradients!(of_rows: [input: [2, 3]],
    |arena| tile_init(arena, input, 0, 3),
    |_, gradient| [tile_backward_init(arena, gradient, 0, 3)],
    with linear()
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |arena| tile_init(arena, input, 1, 2),
    |_, gradient| [tile_backward_init(arena, gradient, 1, 2)],
    with linear()
);
