// Window: a kernel that moves over the rows and columns of an image.
#pragma once

#include "dahl.cuh"

namespace dahl {

struct Window {
    uint64_t image[2], kernel[2], stride[2], padding[2];

    // The window of images and a kernel, given by their last two extents.
    template <class T>
    DAHL_DEVICE Window(const View<T, 4> &images, size_t kernel_rows, size_t kernel_cols, const Extents<2> &stride, const Extents<2> &padding)
        : image{images.extents[2], images.extents[3]}, kernel{kernel_rows, kernel_cols}, stride{stride[0], stride[1]},
          padding{padding[0], padding[1]} {}

    // The row or column of the image (`axis` 0 or 1) under kernel element `tap` at `position`. In the padding it is not
    // below `image[axis]`.
    DAHL_DEVICE uint64_t source(int axis, uint64_t position, uint64_t tap) const {
        return position * stride[axis] + tap - padding[axis];
    }

    // The position at which kernel element `tap` lies on row or column `source` of the image; ~0 if there is none.
    DAHL_DEVICE uint64_t position(int axis, uint64_t source, uint64_t tap) const {
        uint64_t start = source + padding[axis];
        if (start < tap) return ~uint64_t(0);
        Division division = divide(start - tap, stride[axis]);
        return division.remainder == 0 ? division.quotient : ~uint64_t(0);
    }
};

} // namespace dahl
