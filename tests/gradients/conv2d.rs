//! Convolutions, by images and by filters.

use dahl::ops::{Conv2dGeometry, conv2d_init};

/// A test of a convolution of images by filters.
macro_rules! convolution {
    ($test:ident: $images:expr, $filters:expr, stride $stride:expr, padding $padding:expr) => {
        gradients!($test: [input: $images, filters: $filters],
            |tape| conv2d_init(tape, input, filters, Conv2dGeometry { stride: $stride, padding: $padding }),
            with linear()
        );
    };
}

convolution!(plain: [2, 3, 7, 6], [4, 3, 3, 3], stride [1, 1], padding [0, 0]);
convolution!(of_one_channel: [1, 1, 5, 5], [2, 1, 2, 3], stride [1, 1], padding [1, 0]);
convolution!(with_strides_and_padding: [2, 2, 8, 9], [3, 2, 3, 2], stride [2, 3], padding [1, 1]);
convolution!(of_single_pixels: [3, 2, 5, 4], [3, 2, 1, 1], stride [3, 2], padding [0, 0]);
convolution!(with_more_padding_than_image: [1, 1, 2, 2], [2, 1, 5, 5], stride [3, 1], padding [2, 2]);
