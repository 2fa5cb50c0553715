use dahl::ops::ConvolutionGeometry;

use super::*;

const MOVED: ConvolutionGeometry<2> =
    ConvolutionGeometry { stride: [2, 1], padding: [1, 2], dilation: [1, 2], groups: 1 };
// Stride and dilation with a common divisor, and groups of several channels.
const GROUPED: ConvolutionGeometry<2> =
    ConvolutionGeometry { stride: [2, 3], padding: [2, 1], dilation: [4, 2], groups: 2 };
const DEPTHWISE: ConvolutionGeometry<2> =
    ConvolutionGeometry { stride: [1, 2], padding: [2, 1], dilation: [2, 1], groups: 3 };
const OF_SIGNALS: ConvolutionGeometry<1> =
    ConvolutionGeometry { stride: [2], padding: [3], dilation: [3], groups: 1 };
const OF_VOLUMES: ConvolutionGeometry<3> =
    ConvolutionGeometry { stride: [1, 2, 1], padding: [0, 1, 1], dilation: [2, 1, 1], groups: 1 };
const PLAIN: ConvolutionGeometry<2> =
    ConvolutionGeometry { stride: [1, 1], padding: [1, 1], dilation: [1, 1], groups: 1 };

on_cpu!(convolution: convolution of ops::codelets::Convolution, ([2, 3, 8, 7], [5, 3, 3, 2], _), (MOVED,));
on_cpu!(convolution_in_groups: convolution of ops::codelets::Convolution, ([2, 6, 12, 10], [10, 3, 3, 2], _), (GROUPED,));
on_cpu!(convolution_by_depth: convolution of ops::codelets::Convolution, ([2, 3, 8, 7], [6, 1, 3, 2], _), (DEPTHWISE,));
on_cpu!(convolution_of_signals: convolution of ops::codelets::Convolution, ([3, 2, 31], [5, 2, 4], _), (OF_SIGNALS,));
on_cpu!(convolution_of_volumes: convolution of ops::codelets::Convolution, ([2, 2, 5, 7, 6], [4, 2, 2, 3, 2], _), (OF_VOLUMES,));
// More channels and positions than one tile has, and more positions than a flat one has.
on_cpu!(convolution_in_tiles: convolution of ops::codelets::Convolution, ([2, 3, 11, 9], [67, 3, 3, 2], _), (PLAIN,));
on_cpu!(convolution_in_flat_tiles: convolution of ops::codelets::Convolution, ([3, 2, 11, 9], [5, 2, 3, 3], _), (PLAIN,));
on_cpu!(
    convolution_backward_input: convolution_backward_input of ops::codelets::ConvolutionBackwardInput,
    ([2, 5, 4, 9], [5, 4, 3, 2], output([2, 4, 8, 7])),
    ([8, 7], MOVED)
);
on_cpu!(
    convolution_backward_input_in_groups: convolution_backward_input of ops::codelets::ConvolutionBackwardInput,
    ([2, 4, 4, 4], [4, 5, 3, 2], output([2, 10, 12, 10])),
    ([12, 10], GROUPED)
);
on_cpu!(
    convolution_backward_input_by_depth: convolution_backward_input of ops::codelets::ConvolutionBackwardInput,
    ([2, 6, 8, 4], [6, 1, 3, 2], output([2, 3, 8, 7])),
    ([8, 7], DEPTHWISE)
);
on_cpu!(
    convolution_backward_input_of_signals: convolution_backward_input of ops::codelets::ConvolutionBackwardInput,
    ([3, 5, 14], [5, 4, 4], output([3, 4, 31])),
    ([31], OF_SIGNALS)
);
on_cpu!(
    convolution_backward_input_of_volumes: convolution_backward_input of ops::codelets::ConvolutionBackwardInput,
    ([2, 3, 3, 4, 7], [3, 4, 2, 3, 2], output([2, 4, 5, 7, 6])),
    ([5, 7, 6], OF_VOLUMES)
);
on_cpu!(
    convolution_backward_filters: convolution_backward_filters of ops::codelets::ConvolutionBackwardFilters,
    ([2, 3, 8, 7], [2, 5, 4, 9], output([5, 3, 3, 2])),
    ([3, 2], MOVED)
);
on_cpu!(
    convolution_backward_filters_in_groups: convolution_backward_filters of ops::codelets::ConvolutionBackwardFilters,
    ([2, 6, 12, 10], [2, 10, 4, 4], output([10, 3, 3, 2])),
    ([3, 2], GROUPED)
);
on_cpu!(
    convolution_backward_filters_by_depth: convolution_backward_filters of ops::codelets::ConvolutionBackwardFilters,
    ([2, 3, 8, 7], [2, 6, 8, 4], output([6, 1, 3, 2])),
    ([3, 2], DEPTHWISE)
);
on_cpu!(
    convolution_backward_filters_of_volumes: convolution_backward_filters of ops::codelets::ConvolutionBackwardFilters,
    ([2, 2, 5, 7, 6], [2, 4, 3, 4, 7], output([4, 2, 2, 3, 2])),
    ([2, 3, 2], OF_VOLUMES)
);
// More than one part of the positions.
on_cpu!(
    convolution_backward_filters_in_parts: convolution_backward_filters of ops::codelets::ConvolutionBackwardFilters,
    ([2, 1, 29, 27], [2, 4, 29, 27], output([4, 1, 3, 3])),
    ([3, 3], PLAIN)
);
