// How the threads of a block fetch their part of a factor of a matrix product from global memory, step by step.
//
// A factor need not be a matrix in memory: it is asked for elements. It has
//
//     Outer outer(size_t)        what one of its rows (of the right factor: columns) contributes to the place of an element
//     Inner inner(size_t)        what an inner index contributes
//     Raw at(Outer, Inner)       loads an element
//     T value(Raw)               what is multiplied
//     bool along_inner           the better direction to read
//
// If the right factor HAS_GAPS, places where nothing is to be multiplied, `is_gap(Outer, Inner)` tells them, and its elements
// there are zeros.
//
// The expensive part of an index, its division into image, row and column, is in `outer` and `inner`: it is done once for a
// row of the tile and once for an inner index of a step, and kept in shared memory. For an element only two distances are
// added.
#pragma once

#include "tile.cuh"

namespace dahl {

// The element whose distance in bytes from an array's first is the sum of two: one for the index of each dimension of a
// factor.
template <class T> DAHL_DEVICE T &element_at(T *first, uint64_t outer, uint64_t inner) {
    return *const_cast<T *>(reinterpret_cast<const T *>(reinterpret_cast<const char *>(first) + int64_t(outer) + int64_t(inner)));
}

// The contribution of an index of `axis` to that distance.
template <class T, int RANK> DAHL_DEVICE uint64_t bytes_along(const View<T, RANK> &view, int axis, uint64_t index) {
    check_bounds(axis, index, view.extents[axis]);
    return index * uint64_t(view.strides[axis]) * sizeof(T);
}

// What a thread fetches of `SIZE` rows (of the right factor: columns) and `INNER` inner indices.
//
// Neighbouring threads fetch along the inner dimension, or along rows, depending on the factor's layout in memory. Each
// thread has the same rows in each step.
template <unsigned SIZE, unsigned INNER, class Factor> struct Fetch {
    const Factor &factor;

    using Outer = decltype(factor.outer(0));
    using Inner = decltype(factor.inner(0));
    using Raw = decltype(factor.at(Outer(), Inner()));

    // In shared memory.
    struct Indices {
        Outer outers[SIZE];
        Inner inners[2][INNER];
    };

    static constexpr unsigned COUNT = SIZE * INNER / TILE_THREADS;
    // The distance of the elements that a thread fetches: in rows where threads go along the inner dimension, else in
    // inner indices.
    static constexpr unsigned ROWS_APART = TILE_THREADS / INNER, INNER_APART = TILE_THREADS / SIZE;

    Indices &indices;
    unsigned helper;     // which thread finds the first index
    unsigned outers;     // that there are, up to `SIZE`
    unsigned first, end; // of the rows of which this thread fetches elements
    size_t inner_end;
    Outer own;
    Raw fetched[COUNT];

    DAHL_DEVICE Fetch(const Factor &factor, Indices &indices, unsigned helper, size_t outers, size_t inner_end)
        : factor(factor), indices(indices), helper(helper), outers(outers < SIZE ? unsigned(outers) : SIZE), inner_end(inner_end),
          own(), fetched() {
        first = factor.along_inner ? threadIdx.x / INNER : threadIdx.x % SIZE;
        unsigned left = this->outers > first ? this->outers - first : 0;
        end = factor.along_inner ? (left + ROWS_APART - 1) / ROWS_APART : left;
    }

    DAHL_DEVICE void find_outers(size_t first) {
        if (threadIdx.x < outers) indices.outers[threadIdx.x] = factor.outer(first + threadIdx.x);
    }
    // Beyond the end, the last index is repeated: what is read there is not multiplied.
    DAHL_DEVICE void find_inners(size_t first, unsigned buffer) {
        unsigned i = (threadIdx.x - helper) % TILE_THREADS;
        if (i < INNER) indices.inners[buffer][i] = factor.inner(first + i < inner_end ? first + i : inner_end - 1);
    }

    DAHL_DEVICE void keep_own() {
        if (!factor.along_inner && first < outers) own = indices.outers[first];
    }

    // The inner index of this thread's element number `i`.
    DAHL_DEVICE unsigned inner_of(unsigned i) const {
        return factor.along_inner ? threadIdx.x % INNER : threadIdx.x / SIZE + i * INNER_APART;
    }

    // Begins to load the elements of the inner indices that `find_inners` found. Nothing waits for them before they are
    // stored in shared memory.
    DAHL_DEVICE void fetch(unsigned buffer) {
        if (factor.along_inner) {
            Inner inner = indices.inners[buffer][threadIdx.x % INNER];
            const Outer *outer = indices.outers + first;
            if (end >= COUNT) {
#pragma unroll
                for (unsigned i = 0; i < COUNT; i++) fetched[i] = factor.at(outer[i * ROWS_APART], inner);
            } else {
#pragma unroll
                for (unsigned i = 0; i < COUNT; i++) {
                    if (i < end) fetched[i] = factor.at(outer[i * ROWS_APART], inner);
                }
            }
        } else if (end > 0) {
#pragma unroll
            for (unsigned i = 0; i < COUNT; i++) {
                fetched[i] = factor.at(own, indices.inners[buffer][threadIdx.x / SIZE + i * INNER_APART]);
            }
        }
    }
};

} // namespace dahl
