//! Adding a vector along an axis.

use dahl::ops::bias_init;

gradients!(of_rows: [input: [5, 3], b: [3]],
    |tape| bias_init(tape, input, b, 1),
    with linear()
);

gradients!(of_images: [input: [2, 3, 4, 2], b: [3]],
    |tape| bias_init(tape, input, b, 1),
    with linear()
);

gradients!(along_the_first_axis: [input: [4, 3], b: [4]],
    |tape| bias_init(tape, input, b, 0),
    with linear()
);
