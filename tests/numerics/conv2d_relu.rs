use super::*;

numerics!(conv2d_relu: ops::Conv2dRelu, ([2, 3, 8, 7], [5, 3, 3, 2], [5], _), ([1, 1]));
numerics!(
    conv2d_relu_max_pool2d: ops::Conv2dReluMaxPool2d,
    ([2, 3, 8, 7], [7, 3, 3, 2], [7], _, _),
    ([1, 0], [2, 3])
);
numerics!(
    relu_max_pool2d_backward: ops::ReluMaxPool2dBackward,
    ([2, 3, 4, 7], [2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ()
);
numerics!(
    conv2d_relu_max_pool2d_backward: ops::Conv2dReluMaxPool2dBackward,
    (
        [2, 3, 8, 7],
        [2, 5, 4, 2],
        [2, 5, 4, 2],
        below(48, [2, 5, 4, 2]),
        output([5, 3, 3, 2]),
        output([5])
    ),
    ([1, 0], [2, 3])
);
