//! Repetitions along an axis.

use dahl::ops::tile_init;

gradients!(of_rows: [input: [2, 3]],
    |tape| tile_init(tape, input, 0, 3),
    with linear()
);

gradients!(along_the_middle_axis: [input: [2, 3, 4]],
    |tape| tile_init(tape, input, 1, 2),
    with linear()
);
