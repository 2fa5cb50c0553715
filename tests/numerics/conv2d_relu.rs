use dahl::testing::within;

use super::*;

// A sum that overflows is NaN or infinite depending on its order, and the rectifier makes 0 of -inf but not of NaN.
numerics!(
    conv2d_relu: ops::codelets::Conv2dRelu,
    (within(-1000.0, 1000.0, [2, 3, 8, 7]), within(-1000.0, 1000.0, [5, 3, 3, 2]), [5], _),
    ([1, 1])
);
// The results of `conv2d_relu_max_pool2d` are compared in `tests/ops`, on numbers whose sums are exact, since rounding could decide
// which of two sums is larger.
numerics!(
    gradient of conv2d_relu_max_pool2d: ops::codelets::Conv2dReluMaxPool2d,
    ([2, 3, 8, 7], [5, 3, 3, 2], [5], _, _),
    (ops::Conv2dPoolGeometry { padding: [1, 0], size: [2, 3] },)
);
numerics!(
    conv2d_relu_backward: ops::codelets::Conv2dReluBackward,
    ([2, 3, 8, 7], [2, 5, 8, 6], [2, 5, 8, 6], output([5, 3, 3, 2]), output([5])),
    ([1, 0])
);
numerics!(
    bias_relu_max_pool2d_backward: ops::codelets::BiasReluMaxPool2dBackward,
    ([2, 3, 4, 7], [2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7]), output([3])),
    ()
);
numerics!(
    conv2d_relu_max_pool2d_backward: ops::codelets::Conv2dReluMaxPool2dBackward,
    (
        [2, 3, 8, 7],
        [2, 5, 4, 2],
        [2, 5, 4, 2],
        below(48, [2, 5, 4, 2]),
        output([5, 3, 3, 2]),
        output([5])
    ),
    (ops::Conv2dPoolGeometry { padding: [1, 0], size: [2, 3] },)
);
