// A convolution as a product of matrices, of which the matrix of patches is never in memory: the parts that all
// convolutions share.
#pragma once

#include "product.cuh"
#include "window.cuh"

namespace dahl {

// An index of a matrix that stands for three: `image` or channel, row, column.
struct Three {
    uint64_t outer, row, col;

    static DAHL_DEVICE Three of(uint64_t index, uint64_t rows, uint64_t cols) {
        Division line = divide(index, cols), plane = divide(line.quotient, rows);
        return {plane.quotient, plane.remainder, line.remainder};
    }
};

// The distance in bytes that an image, row and column, packed in one index, contribute in an array with channels.
template <class T> DAHL_DEVICE uint64_t bytes_of_place(const View<T, 4> &images, uint64_t index) {
    Three place = Three::of(index, images.extent(2), images.extent(3));
    return bytes_along(images, 0, place.outer) + bytes_along(images, 2, place.row) + bytes_along(images, 3, place.col);
}

// Filters as a matrix [out channels, (in channel, kernel row, kernel col)], or, `by_input`, [in channels, (out channel, ..)].
template <class T> struct FilterMatrix {
    View<const T, 4> filters;
    bool by_input, along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const {
        return by_input ? bytes_along(filters, 1, channel) : bytes_along(filters, 0, channel);
    }
    DAHL_DEVICE uint64_t inner(size_t inner) const {
        Three tap = Three::of(inner, filters.extent(2), filters.extent(3));
        uint64_t channel = by_input ? bytes_along(filters, 0, tap.outer) : bytes_along(filters, 1, tap.outer);
        return channel + bytes_along(filters, 2, tap.row) + bytes_along(filters, 3, tap.col);
    }
    DAHL_DEVICE T at(uint64_t channel, uint64_t tap) const { return element_at(filters.data, channel, tap); }
    DAHL_DEVICE T value(T element) const { return element; }
};

// A kernel's tap: its row and column, and the distance in bytes that it adds to a position's.
struct Tap {
    uint64_t bytes;
    uint32_t row, col;
};

// A position of a kernel: which of the kernel's rows and columns lie on an element of the array, and the distance in
// bytes that taps' distances are added to. Comparing taps instead of rows of an image keeps comparisons to 32 bits.
struct Reach {
    uint64_t bytes;
    uint32_t row, rows, col, cols;

    DAHL_DEVICE bool has(const Tap &tap) const { return (tap.row - row < rows) & (tap.col - col < cols); }
};

// The part `first..end` of `taps`.
struct Taps {
    uint32_t first, count;

    static DAHL_DEVICE Taps between(uint64_t first, uint64_t end, uint64_t taps) {
        end = end < taps ? end : taps;
        return first < end ? Taps{uint32_t(first), uint32_t(end - first)} : Taps{0, 0};
    }
};

// Stops if the taps do not fit in 31 bits: an element of the output would be a sum of more products.
DAHL_DEVICE void check_kernel(const Window &window) {
    for (int axis = 0; axis < 2; axis++) {
        if (window.kernel[axis] >> 31 != 0) out_of_bounds(axis, window.kernel[axis], uint64_t(1) << 31);
    }
}

// Images as a matrix [(image, position row, position col), (channel, kernel row, kernel col)]: the patch under each position.
template <class T> struct Patches {
    static constexpr bool HAS_GAPS = false; // padding is zeros, and counts
    View<const T, 4> images;
    Window window;
    uint64_t rows, cols;
    bool along_inner;

    DAHL_DEVICE Reach outer(size_t position) const { return reach(Three::of(position, rows, cols)); }
    DAHL_DEVICE Tap inner(size_t inner) const {
        Three tap = Three::of(inner, window.kernel[0], window.kernel[1]);
        return {bytes_along(images, 1, tap.outer) + bytes_to(tap.row, tap.col), uint32_t(tap.row), uint32_t(tap.col)};
    }
    DAHL_DEVICE T at(const Reach &position, const Tap &tap) const {
        return position.has(tap) ? element_at(images.data, position.bytes, tap.bytes) : T{};
    }
    DAHL_DEVICE T value(T element) const { return element; }

    DAHL_DEVICE Reach reach(const Three &position) const {
        Taps rows = inside(0, position.row), cols = inside(1, position.col);
        uint64_t bytes = bytes_to(window.source(0, position.row, 0), window.source(1, position.col, 0));
        return {bytes_along(images, 0, position.outer) + bytes, rows.first, rows.count, cols.first, cols.count};
    }

  private:
    // Also for a row and column outside of the image, where a patch may begin.
    DAHL_DEVICE uint64_t bytes_to(uint64_t row, uint64_t col) const {
        return (row * uint64_t(images.strides[2]) + col * uint64_t(images.strides[3])) * sizeof(T);
    }
    // The taps that lie inside of the image at `position`.
    DAHL_DEVICE Taps inside(int axis, uint64_t position) const {
        uint64_t start = position * window.stride[axis], first = window.padding[axis], end = first + window.image[axis];
        return Taps::between(first > start ? first - start : 0, end > start ? end - start : 0, window.kernel[axis]);
    }
};

// `Patches` transposed: taps are the outer dimension, and positions are summed over.
template <class T> struct PatchesOfTaps {
    static constexpr bool HAS_GAPS = false;
    Patches<T> patches;
    bool along_inner;

    DAHL_DEVICE Tap outer(size_t tap) const { return patches.inner(tap); }
    DAHL_DEVICE Reach inner(size_t position) const { return patches.outer(position); }
    DAHL_DEVICE T at(const Tap &tap, const Reach &position) const { return patches.at(position, tap); }
    DAHL_DEVICE T value(T element) const { return element; }
};

} // namespace dahl
