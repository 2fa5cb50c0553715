use super::*;

numerics!(conv2d: ops::Conv2d, ([2, 3, 8, 7], [5, 3, 3, 2], _), ([2, 1], [1, 1]));
numerics!(
    conv2d_backward_input: ops::Conv2dBackwardInput,
    ([2, 5, 4, 8], [5, 3, 3, 2], output([2, 3, 8, 7])),
    ([2, 1], [1, 1])
);
numerics!(
    conv2d_backward_filters: ops::Conv2dBackwardFilters,
    ([2, 3, 8, 7], [2, 5, 4, 8], output([5, 3, 3, 2])),
    ([2, 1], [1, 1])
);
