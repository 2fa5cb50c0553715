use super::*;

on_cpu!(matmul: matmul of ops::codelets::Matmul, ([31, 67], [67, 13], _), (ops::Transposed::NEITHER,));
on_cpu!(matmul_of_transposes: matmul of ops::codelets::Matmul, ([67, 31], [13, 67], _), (ops::Transposed::BOTH,));
on_cpu!(matmul_in_tiles: matmul of ops::codelets::Matmul, ([70, 19], [19, 130], _), (ops::Transposed::NEITHER,));
on_cpu!(matmul_add: matmul_add of ops::codelets::MatmulAdd, ([31, 67], [13, 67], _), (ops::Transposed::RIGHT,));
// More than one part of the inner dimension.
on_cpu!(matmul_in_parts: matmul of ops::codelets::Matmul, ([5, 300], [300, 9], _), (ops::Transposed::NEITHER,));
on_cpu!(matmul_add_in_parts: matmul_add of ops::codelets::MatmulAdd, ([300, 5], [9, 300], _), (ops::Transposed::BOTH,));
on_cpu!(matmul_batched: matmul_batched of ops::codelets::MatmulBatched, ([3, 31, 67], [3, 67, 13], _), (ops::Transposed::NEITHER,));
on_cpu!(matmul_batched_of_transposes: matmul_batched of ops::codelets::MatmulBatched, ([3, 67, 31], [3, 13, 67], _), (ops::Transposed::BOTH,));
on_cpu!(matmul_batched_in_tiles: matmul_batched of ops::codelets::MatmulBatched, ([2, 70, 19], [2, 130, 19], _), (ops::Transposed::RIGHT,));
on_cpu!(matvec: matvec of ops::codelets::Matvec, ([31, 67], [67], _), (false,));
on_cpu!(matvec_of_transpose: matvec of ops::codelets::Matvec, ([67, 35], [67], _), (true,));
on_cpu!(outer: outer of ops::codelets::Outer, ([31], [67], _), ());
on_cpu!(dot: dot of ops::codelets::Dot, ([131, 67], [131, 67], _), ());
on_cpu!(conv2d: conv2d of ops::codelets::Conv2d, ([2, 3, 8, 7], [5, 3, 3, 2], _), (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },));
// More channels and positions than one tile has, and more positions than a flat one has.
on_cpu!(conv2d_in_tiles: conv2d of ops::codelets::Conv2d, ([2, 3, 11, 9], [67, 3, 3, 2], _), (ops::Conv2dGeometry { stride: [1, 1], padding: [1, 1] },));
on_cpu!(conv2d_in_flat_tiles: conv2d of ops::codelets::Conv2d, ([3, 2, 11, 9], [5, 2, 3, 3], _), (ops::Conv2dGeometry { stride: [1, 1], padding: [1, 1] },));
on_cpu!(
    conv2d_backward_input: conv2d_backward_input of ops::codelets::Conv2dBackwardInput,
    ([2, 5, 4, 8], [5, 3, 3, 2], output([2, 3, 8, 7])),
    (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },)
);
on_cpu!(
    conv2d_backward_input_in_tiles: conv2d_backward_input of ops::codelets::Conv2dBackwardInput,
    ([2, 5, 6, 4], [5, 35, 3, 2], output([2, 35, 11, 9])),
    (ops::Conv2dGeometry { stride: [2, 3], padding: [1, 1] },)
);
on_cpu!(
    conv2d_backward_filters: conv2d_backward_filters of ops::codelets::Conv2dBackwardFilters,
    ([2, 3, 8, 7], [2, 5, 4, 8], output([5, 3, 3, 2])),
    (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },)
);
// More than one part of the positions.
on_cpu!(
    conv2d_backward_filters_in_parts: conv2d_backward_filters of ops::codelets::Conv2dBackwardFilters,
    ([2, 1, 29, 27], [2, 2, 29, 27], output([2, 1, 3, 3])),
    (ops::Conv2dGeometry { stride: [1, 1], padding: [1, 1] },)
);
