//! Matrix products, whose gradients are matrix products.

use dahl::ops::{matmul_init, matvec_init, outer_init};

gradients!(plain: [a: [3, 4], b: [4, 2]],
    |arena| matmul_init(arena, a, b, false, false),
    |_, gradient| [matmul_init(arena, gradient, b, false, true), matmul_init(arena, a, gradient, true, false)],
    with linear()
);

gradients!(of_the_first_transposed: [a: [4, 3], b: [4, 2]],
    |arena| matmul_init(arena, a, b, true, false),
    |_, gradient| [matmul_init(arena, b, gradient, false, true), matmul_init(arena, a, gradient, false, false)],
    with linear()
);

gradients!(of_the_second_transposed: [a: [3, 4], b: [2, 4]],
    |arena| matmul_init(arena, a, b, false, true),
    |_, gradient| [matmul_init(arena, gradient, b, false, false), matmul_init(arena, gradient, a, true, false)],
    with linear()
);

gradients!(of_both_transposed: [a: [4, 3], b: [2, 4]],
    |arena| matmul_init(arena, a, b, true, true),
    |_, gradient| [matmul_init(arena, b, gradient, true, true), matmul_init(arena, gradient, a, true, true)],
    with linear()
);

gradients!(matvec: [a: [3, 4], vector: [4]],
    |arena| matvec_init(arena, a, vector, false),
    |_, gradient| [outer_init(arena, gradient, vector), matvec_init(arena, a, gradient, true)],
    with linear()
);
