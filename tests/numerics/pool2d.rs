use super::*;

numerics!(max_pool2d: ops::codelets::MaxPool2d, ([2, 3, 8, 7], _, _), (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },));
numerics!(
    max_pool2d_backward: ops::codelets::MaxPool2dBackward,
    ([2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7])),
    ()
);
numerics!(avg_pool2d: ops::codelets::AvgPool2d, ([2, 3, 8, 7], _), (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },));
numerics!(
    avg_pool2d_backward: ops::codelets::AvgPool2dBackward,
    ([2, 3, 4, 8], output([2, 3, 8, 7])),
    (ops::Pool2dGeometry { size: [3, 2], stride: [2, 1], padding: [1, 1] },)
);
