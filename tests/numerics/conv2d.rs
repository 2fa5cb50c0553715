use super::*;

numerics!(conv2d: ops::codelets::Conv2d, ([2, 3, 8, 7], [5, 3, 3, 2], _), (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },));
numerics!(
    conv2d_backward_input: ops::codelets::Conv2dBackwardInput,
    ([2, 5, 4, 8], [5, 3, 3, 2], output([2, 3, 8, 7])),
    (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },)
);
numerics!(
    conv2d_backward_filters: ops::codelets::Conv2dBackwardFilters,
    ([2, 3, 8, 7], [2, 5, 4, 8], output([5, 3, 3, 2])),
    (ops::Conv2dGeometry { stride: [2, 1], padding: [1, 1] },)
);
