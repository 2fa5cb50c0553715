use dahl::testing::Within;

use super::*;

/// Small whole numbers, whose sums are exact: rounding does not decide which of two sums is larger, and some are equal.
fn whole<const N: usize>(shape: [usize; N], seed: usize) -> Within<N> {
    let count = shape.iter().product();
    let values: Vec<f64> = (0..count).map(|i| ((i * 7 + seed * 5) % 11) as f64 - 5.0).collect();
    holding(shape, &values)
}

// A sum that overflows is NaN or infinite depending on its order, and the rectifier makes 0 of -inf but not of NaN.
on_cpu!(
    conv2d_relu: conv2d_relu of ops::codelets::Conv2dRelu,
    (within(-1000.0, 1000.0, [2, 3, 8, 7]), within(-1000.0, 1000.0, [5, 3, 3, 2]), [5], _),
    ([1, 1])
);
on_cpu!(
    pooled: conv2d_relu_max_pool2d of ops::codelets::Conv2dReluMaxPool2d,
    (whole([2, 3, 7, 9], 1), whole([7, 3, 3, 2], 2), whole([7], 3), _, _),
    (ops::Conv2dPoolGeometry { padding: [1, 1], size: [2, 3] },)
);
// More windows and channels than one tile has, and not a multiple.
on_cpu!(
    pooled_in_tiles: conv2d_relu_max_pool2d of ops::codelets::Conv2dReluMaxPool2d,
    (whole([3, 1, 14, 15], 1), whole([67, 1, 3, 3], 2), whole([67], 3), _, _),
    (ops::Conv2dPoolGeometry { padding: [0, 1], size: [2, 2] },)
);
// Windows of more places than have columns at a time, and not a multiple.
on_cpu!(
    pooled_by_nine: conv2d_relu_max_pool2d of ops::codelets::Conv2dReluMaxPool2d,
    (whole([2, 3, 11, 8], 1), whole([7, 3, 3, 3], 2), whole([7], 3), _, _),
    (ops::Conv2dPoolGeometry { padding: [0, 0], size: [3, 3] },)
);
on_cpu!(
    rectified_backward: conv2d_relu_backward of ops::codelets::Conv2dReluBackward,
    ([2, 3, 8, 7], [2, 5, 8, 6], [2, 5, 8, 6], output([5, 3, 3, 2]), output([5])),
    ([1, 0])
);
// More than one part of the positions.
on_cpu!(
    rectified_backward_in_parts: conv2d_relu_backward of ops::codelets::Conv2dReluBackward,
    ([2, 1, 29, 27], [2, 2, 29, 27], [2, 2, 29, 27], output([2, 1, 3, 3]), output([2])),
    ([1, 1])
);
// Small planes of so many images that a thread's steps pass over several planes.
on_cpu!(
    rectified_backward_of_many: conv2d_relu_backward of ops::codelets::Conv2dReluBackward,
    ([21, 1, 15, 17], [21, 2, 15, 17], [21, 2, 15, 17], output([2, 1, 1, 1]), output([2])),
    ([0, 0])
);
on_cpu!(
    by_sums: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([2, 3, 4, 7], [2, 3, 4, 7], below(56, [2, 3, 4, 7]), output([2, 3, 8, 7]), output([3])),
    ()
);
on_cpu!(
    by_sums_of_large_planes: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([1, 2, 17, 16], [1, 2, 17, 16], below(300, [1, 2, 17, 16]), output([1, 2, 20, 17]), output([2])),
    ()
);
// Planes of more places than a block holds at a time, of which most are named more than once.
on_cpu!(
    by_sums_in_pieces: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([1, 2, 59, 70], [1, 2, 59, 70], below(4200, [1, 2, 59, 70]), output([1, 2, 60, 71]), output([2])),
    ()
);
// More images than there are sums of a channel.
on_cpu!(
    by_sums_of_many: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([300, 1, 1, 2], [300, 1, 1, 2], below(6, [300, 1, 1, 2]), output([300, 1, 2, 3]), output([1])),
    ()
);
on_cpu!(
    by_sums_of_no_images: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([0, 3, 4, 7], [0, 3, 4, 7], below(56, [0, 3, 4, 7]), output([0, 3, 8, 7]), output([3])),
    ()
);
on_cpu!(
    by_sums_of_empty_planes: bias_relu_max_pool2d_backward of ops::codelets::BiasReluMaxPool2dBackward,
    ([2, 3, 0, 4], [2, 3, 0, 4], below(56, [2, 3, 0, 4]), output([2, 3, 0, 4]), output([3])),
    ()
);
on_cpu!(
    backward: conv2d_relu_max_pool2d_backward of ops::codelets::Conv2dReluMaxPool2dBackward,
    ([2, 3, 8, 7], [2, 5, 4, 2], [2, 5, 4, 2], below(48, [2, 5, 4, 2]), output([5, 3, 3, 2]), output([5])),
    (ops::Conv2dPoolGeometry { padding: [1, 0], size: [2, 3] },)
);
// More than one part of the positions.
on_cpu!(
    backward_in_parts: conv2d_relu_max_pool2d_backward of ops::codelets::Conv2dReluMaxPool2dBackward,
    ([2, 1, 29, 27], [2, 2, 14, 13], [2, 2, 14, 13], below(783, [2, 2, 14, 13]), output([2, 1, 3, 3]), output([2])),
    (ops::Conv2dPoolGeometry { padding: [1, 1], size: [2, 2] },)
);
on_cpu!(
    backward_of_no_images: conv2d_relu_max_pool2d_backward of ops::codelets::Conv2dReluMaxPool2dBackward,
    ([0, 3, 8, 7], [0, 5, 4, 2], [0, 5, 4, 2], below(48, [0, 5, 4, 2]), output([5, 3, 3, 2]), output([5])),
    (ops::Conv2dPoolGeometry { padding: [1, 0], size: [2, 3] },)
);
// The kernel does not fit in the image.
on_cpu!(
    backward_of_no_places: conv2d_relu_max_pool2d_backward of ops::codelets::Conv2dReluMaxPool2dBackward,
    ([2, 1, 2, 7], [2, 2, 0, 2], [2, 2, 0, 2], below(48, [2, 2, 0, 2]), output([2, 1, 3, 3]), output([2])),
    (ops::Conv2dPoolGeometry { padding: [0, 0], size: [2, 2] },)
);
