//! Products of batches of matrices, whose gradients are such products.

use dahl::ops::{Transposed, matmul_batched_init, matmul_batched_transposed_init};

gradients!(plain: [a: [2, 3, 4], b: [2, 4, 2]],
    |tape| matmul_batched_init(tape, a, b),
    with linear()
);

gradients!(of_the_first_transposed: [a: [2, 4, 3], b: [2, 4, 2]],
    |tape| matmul_batched_transposed_init(tape, a, b, Transposed::LEFT),
    with linear()
);

gradients!(of_the_second_transposed: [a: [2, 3, 4], b: [2, 2, 4]],
    |tape| matmul_batched_transposed_init(tape, a, b, Transposed::RIGHT),
    with linear()
);

gradients!(of_both_transposed: [a: [2, 4, 3], b: [2, 2, 4]],
    |tape| matmul_batched_transposed_init(tape, a, b, Transposed::BOTH),
    with linear()
);
