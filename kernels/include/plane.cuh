// Plane: one channel of one image, read element by element or by 16 bytes.
#pragma once

#include "chunk.cuh"

namespace dahl {

// A plane of an array of four axes, element by element.
template <class T> struct Plane {
    T *first;
    size_t len, cols;
    int64_t row_stride, col_stride;

    DAHL_DEVICE Plane(const View<T, 4> &view, uint64_t image, uint64_t channel)
        : first(view.data + int64_t(image) * view.stride(0) + int64_t(channel) * view.stride(1)), len(view.extent(2) * view.extent(3)),
          cols(view.extent(3)), row_stride(view.stride(2)), col_stride(view.stride(3)) {}

    // Whether the elements follow each other in memory.
    DAHL_DEVICE bool is_run() const { return (cols == 1 || col_stride == 1) && (len == cols || row_stride == int64_t(cols)); }

    DAHL_DEVICE T &operator[](size_t i) const {
        check_bounds(-1, i, len);
        if (is_run()) return first[i];
        Division place = divide(i, cols);
        return first[int64_t(place.quotient) * row_stride + int64_t(place.remainder) * col_stride];
    }
};

// The elements of a plane from `start` on, as many as a chunk has; 0 beyond the end.
template <class T> DAHL_DEVICE void load_each(const Plane<const T> &plane, bool is_run, size_t start, T (&elements)[EACH<T>]) {
    const T *from = plane.first + start;
    if (is_run && start + EACH<T> <= plane.len && is_of_chunk(from)) {
        load_chunk(from, elements);
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < EACH<T>; i++) elements[i] = start + i < plane.len ? plane[start + i] : T();
}

} // namespace dahl
