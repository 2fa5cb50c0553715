//! Picking elements by index.

use dahl::ops::{gather_init, index_select_init};

/// Indices that occur several times, and some that never do.
const INDEX: [u32; 6] = [3, 0, 3, 1, 1, 3];

gradients!(gather: [input: [4, 3]],
    |tape| gather_init(tape, input, &tape.detached().from_slice([2, 3], &INDEX)?, 0),
    with linear()
);

gradients!(gather_along_the_last_axis: [input: [2, 2, 4]],
    |tape| gather_init(tape, input, &tape.detached().from_slice([1, 2, 3], &INDEX)?, 2),
    with linear()
);

gradients!(index_select: [input: [4, 3]],
    |tape| index_select_init(tape, input, &tape.detached().from_slice([6], &INDEX)?, 0),
    with linear()
);

gradients!(index_select_along_the_last_axis: [input: [2, 4]],
    |tape| index_select_init(tape, input, &tape.detached().from_slice([6], &INDEX)?, 1),
    with linear()
);
