//! Axes in another order.

use dahl::ops::permute_init;

gradients!(of_three: [input: [2, 3, 4]], |tape| permute_init(tape, input, [2, 0, 1]), with linear());
gradients!(of_four: [input: [2, 1, 3, 2]], |tape| permute_init(tape, input, [1, 3, 2, 0]), with linear());
