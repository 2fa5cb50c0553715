// A convolution as a product of matrices, of which the one of patches is never in memory: what the convolutions have in common.
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

// Filters as a matrix [out channels, (in channel, kernel row, kernel col)], or, `by_input`, [in channels, (out channel, ..)].
template <class T> struct FilterMatrix {
    View<const T, 4> filters;
    bool by_input, along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return channel; }
    DAHL_DEVICE compute_t<T> at(uint64_t channel, size_t inner) const {
        Three tap = Three::of(inner, filters.extent(2), filters.extent(3));
        return widen(by_input ? filters.at(tap.outer, channel, tap.row, tap.col) : filters.at(channel, tap.outer, tap.row, tap.col));
    }
};

// Images as a matrix [(image, position row, position col), (channel, kernel row, kernel col)]: the patch under each position.
template <class T> struct Patches {
    static constexpr bool HAS_GAPS = false; // padding is zeros, and counts
    View<const T, 4> images;
    Window window;
    uint64_t rows, cols;
    bool along_inner;

    DAHL_DEVICE Three outer(size_t position) const { return Three::of(position, rows, cols); }
    DAHL_DEVICE compute_t<T> at(const Three &position, size_t inner) const {
        return at(position, Three::of(inner, window.kernel[0], window.kernel[1]));
    }
    DAHL_DEVICE compute_t<T> at(const Three &position, const Three &tap) const {
        uint64_t row = window.source(0, position.row, tap.row), col = window.source(1, position.col, tap.col);
        if (row >= window.image[0] || col >= window.image[1]) return 0;
        return widen(images.at(position.outer, tap.outer, row, col));
    }
};

// `Patches` with its dimensions exchanged: a tap is what is fixed, positions are summed over.
template <class T> struct PatchesOfTaps {
    static constexpr bool HAS_GAPS = false;
    Patches<T> patches;
    bool along_inner;

    DAHL_DEVICE Three outer(size_t tap) const { return Three::of(tap, patches.window.kernel[0], patches.window.kernel[1]); }
    DAHL_DEVICE compute_t<T> at(const Three &tap, size_t inner) const { return patches.at(patches.outer(inner), tap); }
};

} // namespace dahl
