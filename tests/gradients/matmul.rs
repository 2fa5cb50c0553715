//! Matrix products, whose gradients are matrix products.

use dahl::ops::{
    Transposed, matmul_init, matmul_transposed_init, matvec_init, matvec_transposed_init, outer_init,
};

gradients!(plain: [a: [3, 4], b: [4, 2]],
    |arena| matmul_init(arena, a, b),
    |_, gradient| [matmul_transposed_init(arena, gradient, b, Transposed::RIGHT), matmul_transposed_init(arena, a, gradient, Transposed::LEFT)],
    with linear()
);

gradients!(of_the_first_transposed: [a: [4, 3], b: [4, 2]],
    |arena| matmul_transposed_init(arena, a, b, Transposed::LEFT),
    |_, gradient| [matmul_transposed_init(arena, b, gradient, Transposed::RIGHT), matmul_init(arena, a, gradient)],
    with linear()
);

gradients!(of_the_second_transposed: [a: [3, 4], b: [2, 4]],
    |arena| matmul_transposed_init(arena, a, b, Transposed::RIGHT),
    |_, gradient| [matmul_init(arena, gradient, b), matmul_transposed_init(arena, gradient, a, Transposed::LEFT)],
    with linear()
);

gradients!(of_both_transposed: [a: [4, 3], b: [2, 4]],
    |arena| matmul_transposed_init(arena, a, b, Transposed::BOTH),
    |_, gradient| [matmul_transposed_init(arena, b, gradient, Transposed::BOTH), matmul_transposed_init(arena, gradient, a, Transposed::BOTH)],
    with linear()
);

gradients!(matvec: [a: [3, 4], vector: [4]],
    |arena| matvec_init(arena, a, vector),
    |_, gradient| [outer_init(arena, gradient, vector), matvec_transposed_init(arena, a, gradient)],
    with linear()
);
