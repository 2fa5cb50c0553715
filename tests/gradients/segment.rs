//! Sums and softmax of the rows of segments.

use dahl::ops::{segment_softmax_init, segment_sum_init};

/// One segment has three rows, and one has none.
const SEGMENTS: [u32; 6] = [3, 0, 3, 1, 1, 3];

gradients!(sum: [input: [6, 2]],
    |tape| segment_sum_init(tape, input, &tape.detached().from_slice([6], &SEGMENTS)?, 4),
    with linear()
);

gradients!(softmax: [input: [6, 2] in -3.0..3.0],
    |tape| segment_softmax_init(tape, input, &tape.detached().from_slice([6], &SEGMENTS)?, 4)
);

gradients!(softmax_of_one_number_a_row: [input: [6] in -3.0..3.0],
    |tape| segment_softmax_init(tape, input, &tape.detached().from_slice([6], &SEGMENTS)?, 4)
);
