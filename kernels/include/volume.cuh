// Volumes: arrays `[batch, channels, ..spatial]` of one to three spatial axes, seen as ones of three, and kernels that
// slide over them with a stride, padding and a dilation.
//
// Axes that are not there come first and have extent 1, so one kernel serves signals, images and volumes. The loops over
// three axes are unrolled, and an axis of extent 1 costs an addition of 0.
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr int SPATIAL = 3;
// The rank of an array with all spatial axes.
constexpr int VOLUMES = 2 + SPATIAL;

// An array of one to three spatial axes with all of them.
template <class T> DAHL_DEVICE View<T, VOLUMES> volumes(const View<T, ANY> &view) {
    View<T, VOLUMES> all = {view.data, {view.extent(0), view.extent(1), 1, 1, 1}, {view.stride(0), view.stride(1), 0, 0, 0}};
    int missing = VOLUMES - view.rank();
#pragma unroll
    for (int axis = 2; axis < VOLUMES; axis++) {
        if (axis - missing < 2) continue;
        all.extents[axis] = view.extent(axis - missing);
        all.strides[axis] = view.stride(axis - missing);
    }
    return all;
}

// A number for each spatial axis.
struct Spatial {
    uint64_t of[SPATIAL];

    // Those of an argument; `missing` for the axes that are not there.
    static DAHL_DEVICE Spatial given(const Extents<ANY> &numbers, uint64_t missing) {
        Spatial all = {{missing, missing, missing}};
        int absent = SPATIAL - int(numbers.count);
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            if (axis >= absent) all.of[axis] = numbers[axis - absent];
        }
        return all;
    }
    // The spatial extents of an array.
    template <class T> static DAHL_DEVICE Spatial extents(const View<T, VOLUMES> &view) {
        return {{view.extents[2], view.extents[3], view.extents[4]}};
    }

    DAHL_DEVICE uint64_t operator[](int axis) const { return of[axis]; }
    DAHL_DEVICE uint64_t product() const { return of[0] * of[1] * of[2]; }
};

// A row-major index over some axes and the three spatial ones: what is before them, and the index along each.
struct Site {
    uint64_t outer;
    Spatial at;

    static DAHL_DEVICE Site of(uint64_t index, const Spatial &extents) {
        Division col = divide(index, extents[2]), row = divide(col.quotient, extents[1]), depth = divide(row.quotient, extents[0]);
        return {depth.quotient, {{depth.remainder, row.remainder, col.remainder}}};
    }
};

// The element of a volume.
template <class T> DAHL_DEVICE T &at_site(const View<T, VOLUMES> &view, uint64_t outer, uint64_t channel, const Spatial &at) {
    return view.at(outer, channel, at[0], at[1], at[2]);
}

// Calls `body(plane, image, channel, at)` for each element of a volume, each in one thread of the grid, which may have three axes.
template <class T, class Body> DAHL_DEVICE void for_each_site(const View<T, VOLUMES> &view, Body body) {
    Spatial extents = Spatial::extents(view);
    size_t block = blockIdx.x + size_t(gridDim.x) * (blockIdx.y + size_t(gridDim.y) * blockIdx.z);
    size_t threads = size_t(gridDim.x) * gridDim.y * gridDim.z * blockDim.x;
    for (size_t i = block * blockDim.x + threadIdx.x; i < view.len(); i += threads) {
        Site site = Site::of(i, extents);
        Division channels = divide(site.outer, view.extents[1]);
        body(site.outer, channels.quotient, channels.remainder, site.at);
    }
}

// Channels `first .. first + count` of a volume.
template <class T> DAHL_DEVICE View<T, VOLUMES> channels_of(View<T, VOLUMES> view, int axis, uint64_t first, uint64_t count) {
    view.data += int64_t(first) * view.strides[axis];
    view.extents[axis] = count;
    return view;
}

// How a kernel slides over each spatial axis.
struct Slides {
    Spatial extent, kernel, stride, padding, dilation;

    // The index under kernel element `tap` at `position`; in the padding it is not below the extent.
    DAHL_DEVICE uint64_t source(int axis, uint64_t position, uint64_t tap) const {
        return position * stride[axis] + tap * dilation[axis] - padding[axis];
    }

    // The number of kernel elements that lie before index `end` of the padded input, if the first lies on `start`.
    DAHL_DEVICE uint64_t taps_before(int axis, uint64_t start, uint64_t end) const {
        uint64_t count = end > start ? divide(end - start + dilation[axis] - 1, dilation[axis]).quotient : 0;
        return count < kernel[axis] ? count : kernel[axis];
    }

    // The position at which kernel element `tap` lies on index `source`; ~0 if there is none.
    DAHL_DEVICE uint64_t position(int axis, uint64_t source, uint64_t tap) const {
        uint64_t start = source + padding[axis], before = tap * dilation[axis];
        if (start < before) return ~uint64_t(0);
        Division division = divide(start - before, stride[axis]);
        return division.remainder == 0 ? division.quotient : ~uint64_t(0);
    }
};

// Calls `body(tap, found)` for each kernel element whose `found` lies inside of `inside` along each axis, where
// `find(axis, tap)` is what lies under it.
template <class Find, class Body>
DAHL_DEVICE void for_each_tap(const Spatial &kernel, const Spatial &inside, Find find, Body body) {
    for (uint64_t depth = 0; depth < kernel[0]; depth++) {
        uint64_t found_depth = find(0, depth);
        if (found_depth >= inside[0]) continue;
        for (uint64_t row = 0; row < kernel[1]; row++) {
            uint64_t found_row = find(1, row);
            if (found_row >= inside[1]) continue;
            for (uint64_t col = 0; col < kernel[2]; col++) {
                uint64_t found_col = find(2, col);
                if (found_col < inside[2]) body(Spatial{{depth, row, col}}, Spatial{{found_depth, found_row, found_col}});
            }
        }
    }
}

} // namespace dahl
