// Matrices as the factors of a tiled product (`product.cuh`), transposed first or not: `matmul` and its batches.
#pragma once

#include "product.cuh"

namespace dahl {

// A matrix, or its transpose.
template <class T> DAHL_DEVICE View<T, 2> oriented(const View<T, 2> &matrix, bool transpose) {
    const uint64_t *extents = matrix.extents;
    const int64_t *strides = matrix.strides;
    return {matrix.data,
            {transpose ? extents[1] : extents[0], transpose ? extents[0] : extents[1]},
            {transpose ? strides[1] : strides[0], transpose ? strides[0] : strides[1]}};
}

// A factor whose outer dimension is the first: the left factor, or the transpose of the right one.
template <class T> struct Factor {
    static constexpr bool HAS_GAPS = false;
    View<const T, 2> matrix;
    bool along_inner;

    explicit DAHL_DEVICE Factor(const View<const T, 2> &matrix) : matrix(matrix), along_inner(matrix.strides[0] != 1) {}

    DAHL_DEVICE uint64_t outer(size_t i) const { return bytes_along(matrix, 0, i); }
    DAHL_DEVICE uint64_t inner(size_t i) const { return bytes_along(matrix, 1, i); }
    DAHL_DEVICE T at(uint64_t outer, uint64_t inner) const { return element_at(matrix.data, outer, inner); }
    DAHL_DEVICE T value(T element) const { return element; }
};

} // namespace dahl
