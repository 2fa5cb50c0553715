use super::*;

numerics!(max_pool2d: ops::MaxPool2d, ([2, 3, 8, 7], _, _), ([3, 2], [2, 1], [1, 1]));
numerics!(
    max_pool2d_backward: ops::MaxPool2dBackward,
    ([2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ()
);
numerics!(avg_pool2d: ops::AvgPool2d, ([2, 3, 8, 7], _), ([3, 2], [2, 1], [1, 1]));
numerics!(
    avg_pool2d_backward: ops::AvgPool2dBackward,
    ([2, 3, 4, 8], output([2, 3, 8, 7])),
    ([3, 2], [2, 1], [1, 1])
);
