//! Sums so far, whose gradients are sums from the end.

use dahl::ops::cumulative_sum_init;

gradients!(along_the_last_axis: [input: [3, 5]],
    |tape| cumulative_sum_init(tape, input, 1),
    with linear()
);

gradients!(along_the_first_axis: [input: [4, 2, 3]],
    |tape| cumulative_sum_init(tape, input, 0),
    with linear()
);
