//! Convolutions over one to three axes, by inputs and by filters, and transposed ones.

use dahl::ops::{ConvolutionGeometry, convolution_backward_input_init, convolution_init};

/// A test of a convolution of inputs by filters.
macro_rules! convolution {
    ($test:ident: $input:expr, $filters:expr, $geometry:expr) => {
        gradients!($test: [input: $input, filters: $filters],
            |tape| convolution_init(tape, input, filters, $geometry),
            with linear()
        );
    };
}

convolution!(of_signals: [2, 3, 9], [4, 3, 3], ConvolutionGeometry::default().stride([2]).padding([1]).dilation([2]));
convolution!(of_images_in_groups: [2, 4, 6, 5], [6, 2, 3, 2], ConvolutionGeometry::default().groups(2).padding([1, 0]));
convolution!(depthwise: [2, 3, 6, 5], [6, 1, 3, 2], ConvolutionGeometry::default().groups(3).stride([2, 1]).dilation([1, 2]));
convolution!(of_volumes: [1, 2, 3, 4, 5], [3, 2, 2, 3, 2], ConvolutionGeometry::default().padding([1, 0, 1]));

gradients!(transposed: [input: [2, 4, 3, 4], filters: [4, 3, 3, 2]],
    |tape| convolution_backward_input_init(tape, input, filters, [6, 5],
        ConvolutionGeometry::default().stride([2, 1]).padding([1, 0])),
    with linear()
);
