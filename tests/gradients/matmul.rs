//! Matrix products, whose gradients are matrix products.

use dahl::ops::{Transposed, matmul_init, matmul_transposed_init, matvec_init};

gradients!(plain: [a: [3, 4], b: [4, 2]],
    |tape| matmul_init(tape, a, b),
    with linear()
);

gradients!(of_the_first_transposed: [a: [4, 3], b: [4, 2]],
    |tape| matmul_transposed_init(tape, a, b, Transposed::LEFT),
    with linear()
);

gradients!(of_the_second_transposed: [a: [3, 4], b: [2, 4]],
    |tape| matmul_transposed_init(tape, a, b, Transposed::RIGHT),
    with linear()
);

gradients!(of_both_transposed: [a: [4, 3], b: [2, 4]],
    |tape| matmul_transposed_init(tape, a, b, Transposed::BOTH),
    with linear()
);

gradients!(matvec: [a: [3, 4], vector: [4]],
    |tape| matvec_init(tape, a, vector),
    with linear()
);
