use super::*;

const MOVED: ops::ConvolutionGeometry<2> =
    ops::ConvolutionGeometry { stride: [2, 1], padding: [1, 2], dilation: [1, 2], groups: 1 };
const DEPTHWISE: ops::ConvolutionGeometry<2> =
    ops::ConvolutionGeometry { stride: [1, 2], padding: [2, 1], dilation: [2, 1], groups: 3 };

numerics!(convolution: ops::codelets::Convolution, ([2, 3, 8, 7], [5, 3, 3, 2], _), (MOVED,));
numerics!(
    convolution_backward_input: ops::codelets::ConvolutionBackwardInput,
    ([2, 5, 4, 9], [5, 3, 3, 2], output([2, 3, 8, 7])),
    ([8, 7], MOVED)
);
numerics!(
    convolution_backward_filters: ops::codelets::ConvolutionBackwardFilters,
    ([2, 3, 8, 7], [2, 5, 4, 9], output([5, 3, 3, 2])),
    ([3, 2], MOVED)
);
numerics!(depthwise: ops::codelets::Convolution, ([2, 3, 8, 7], [6, 1, 3, 2], _), (DEPTHWISE,));
numerics!(
    depthwise_backward_input: ops::codelets::ConvolutionBackwardInput,
    ([2, 6, 8, 4], [6, 1, 3, 2], output([2, 3, 8, 7])),
    ([8, 7], DEPTHWISE)
);
numerics!(
    depthwise_backward_filters: ops::codelets::ConvolutionBackwardFilters,
    ([2, 3, 8, 7], [2, 6, 8, 4], output([6, 1, 3, 2])),
    ([3, 2], DEPTHWISE)
);
