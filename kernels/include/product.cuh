// Matrix products in tiles, for `matmul` and the three convolutions.
//
//     product[row, col] = sum over inner of a[row, inner] * b[inner, col]
//
// All columns need every element of `a`, all rows every element of `b`. A block computes a tile of 64 x 128 of the
// product, and reads 64 x 16 and 16 x 128 of the factors at a time into shared memory (half as many for doubles), so
// each element is read once for 128 or 64 products. Register blocking: each of the 256 threads has 4 x 8 elements of
// the tile in registers, and does 32 products for 12 numbers that it reads from shared memory, 16 bytes at a time
// (Volkov and Demmel 2008, Benchmarking GPUs to Tune Dense Linear Algebra). Products are summed in the compute type,
// one after the other. A convolution of few channels uses flat tiles of 32 x 256, which waste less beyond the last
// channel.
//
// While a step's products are computed, the next step's elements are prefetched into registers, and then stored in the
// other of two buffers in shared memory (double buffering). So a step has one barrier, and the latency of memory is
// hidden behind a step (CUTLASS, Efficient GEMM in CUDA, Software Pipelining:
// https://docs.nvidia.com/cutlass/media/docs/cpp/efficient_gemm.html).
//
// The factors need not be matrices in memory: they are asked for elements, and a convolution's factor computes the
// matrix of patches while it is read (implicit GEMM; Chetlur et al. 2014, cuDNN: Efficient Primitives for Deep
// Learning, section 3). The expensive part of an index, its division into image, row and column, is done once for a row
// of the tile and once for an inner index of a step, and kept in shared memory; for an element only two distances are
// added.
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr unsigned TILE_THREADS = 256;
// The rows and columns of a tile that each thread has.
constexpr unsigned EACH_ROWS = 4, EACH_COLS = 8;

// How the threads of a block are arranged over a tile: each has rows that are `SIDE_ROWS` apart and columns that are
// `SIDE_COLS` apart. So neighbouring threads have neighbouring elements.
template <unsigned ROWS_BESIDE> struct TileShape {
    static constexpr unsigned SIDE_ROWS = ROWS_BESIDE, SIDE_COLS = 16;
    static constexpr unsigned ROWS = SIDE_ROWS * EACH_ROWS, COLS = TILE_THREADS / SIDE_ROWS * EACH_COLS;
};
using Tile = TileShape<16>;    // 64 x 128
using FlatTile = TileShape<8>; // 32 x 256, for products of few rows

// The elements that a thread reads from shared memory by one load.
template <class C> struct alignas(16) Vector {
    static constexpr unsigned SIZE = 16 / sizeof(C);
    C of[SIZE];
};

// Inner indices in a step.
template <class C> constexpr unsigned TILE_INNER = 4 * Vector<C>::SIZE;

// A product of doubles is rounded before it is added, as in the reference, which has no wider range: so both overflow
// for the same inputs.
DAHL_DEVICE float multiply_add(float a, float b, float sum) { return ::fmaf(a, b, sum); }
DAHL_DEVICE double multiply_add(double a, double b, double sum) { return a * b + sum; }

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

// A thread's place in its tile: its elements are at row `row + i * SIDE_ROWS` and column `col + j * SIDE_COLS`.
//
// A warp has 4 x 8 threads, which read fewer distinct numbers from shared memory than a row of 32 would. Neighbouring
// threads alternate between two rows, since 16-byte reads are served for half a warp at a time if threads next to each
// other or next but one read the same address.
struct TilePlace {
    unsigned row, col;

    template <class Shape> static DAHL_DEVICE TilePlace of_thread() {
        constexpr unsigned WARPS = Shape::COLS / EACH_COLS / 8; // beside each other
        unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, beside = warp % WARPS * 8 + lane / 2 % 8;
        return {warp / WARPS * 4 + lane / 16 * 2 + lane % 2,
                beside / Shape::SIDE_COLS * (Shape::SIDE_COLS * EACH_COLS) + beside % Shape::SIDE_COLS};
    }
    // The offset of its first vector in a row of `b` (`Panel::place_of`).
    template <class Shape> DAHL_DEVICE unsigned vector(unsigned size) const {
        return (col - col % Shape::SIDE_COLS) / size + col % Shape::SIDE_COLS;
    }
};

// A block's part of one factor: `SIZE` of its rows (of `b`: columns).
template <class C, unsigned SIDE, unsigned SIZE, class Factor> struct Panel {
    const Factor &factor;

    using Outer = decltype(factor.outer(0));
    using Inner = decltype(factor.inner(0));
    using Raw = decltype(factor.at(Outer(), Inner()));
    static constexpr unsigned INNER = TILE_INNER<C>, COUNT = SIZE * INNER / TILE_THREADS, VECTOR = Vector<C>::SIZE;

    // Each row has the elements of one inner index, padded by one vector to avoid bank conflicts when a column is
    // written.
    struct Shared {
        Vector<C> elements[2][INNER][SIZE / VECTOR + 1];
        Outer outers[SIZE];
        Inner inners[2][INNER];
    };

    // The distance of the elements that a thread fetches: in rows where threads go along the inner dimension, else in
    // inner indices.
    static constexpr unsigned ROWS_APART = TILE_THREADS / INNER, INNER_APART = TILE_THREADS / SIZE;
    static constexpr unsigned ROW = SIZE + VECTOR;

    Shared &shared;
    unsigned helper;     // which thread finds the first index
    unsigned outers;     // that there are, up to `SIZE`
    unsigned first, end; // of the elements that this thread fetches
    C *place;            // of the first of them
    size_t inner_end;
    Outer own;
    Raw fetched[COUNT];

    // Neighbouring threads fetch along the inner dimension, or along rows (of `b`: columns), depending on the factor's
    // layout in memory. Each thread has the same rows in each step.
    DAHL_DEVICE Panel(const Factor &factor, Shared &shared, unsigned helper, size_t outers, size_t inner_end)
        : factor(factor), shared(shared), helper(helper), outers(outers < SIZE ? unsigned(outers) : SIZE), inner_end(inner_end), own(),
          fetched() {
        first = factor.along_inner ? threadIdx.x / INNER : threadIdx.x % SIZE;
        unsigned left = this->outers > first ? this->outers - first : 0;
        end = factor.along_inner ? (left + ROWS_APART - 1) / ROWS_APART : left;
        place = shared.elements[0][factor.along_inner ? threadIdx.x % INNER : threadIdx.x / SIZE][0].of + place_of(first);
    }

    // Where a row is stored: the elements of a vector, which belong to one thread, are rows that are SIDE apart. If
    // rows `a` and `b` have no bits in common, `place_of(a + b) == place_of(a) + place_of(b)`.
    static DAHL_DEVICE constexpr unsigned place_of(unsigned row) {
        unsigned each = row / SIDE;
        return (each / VECTOR * SIDE + row % SIDE) * VECTOR + each % VECTOR;
    }

    DAHL_DEVICE void find_outers(size_t first) {
        if (threadIdx.x < outers) shared.outers[threadIdx.x] = factor.outer(first + threadIdx.x);
    }
    // Beyond the end, the last index is repeated: what is read there is not multiplied.
    DAHL_DEVICE void find_inners(size_t first, unsigned buffer) {
        unsigned i = (threadIdx.x - helper) % TILE_THREADS;
        if (i < INNER) shared.inners[buffer][i] = factor.inner(first + i < inner_end ? first + i : inner_end - 1);
    }

    DAHL_DEVICE void keep_own() {
        if (!factor.along_inner && first < outers) own = shared.outers[first];
    }

    // Begins to load the elements of the inner indices that `find_inners` found. Nothing waits for them before `put`.
    DAHL_DEVICE void fetch(unsigned buffer) {
        if (factor.along_inner) {
            Inner inner = shared.inners[buffer][threadIdx.x % INNER];
            const Outer *outer = shared.outers + first;
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
                fetched[i] = factor.at(own, shared.inners[buffer][threadIdx.x / SIZE + i * INNER_APART]);
            }
        }
    }

    // Writes the fetched elements to shared memory. Returns whether one of them is infinite or NaN.
    DAHL_DEVICE bool put(unsigned buffer) {
        C *to = place + buffer * (INNER * ROW);
        C values[COUNT];
        bool is_special = false;
#pragma unroll
        for (unsigned i = 0; i < COUNT; i++) {
            values[i] = factor.value(fetched[i]);
            is_special |= !is_finite(values[i]);
        }
        if (factor.along_inner && ROWS_APART == SIDE) {
            // The fetched elements are whole vectors.
#pragma unroll
            for (unsigned i = 0; i < COUNT; i += VECTOR) {
                Vector<C> vector;
#pragma unroll
                for (unsigned j = 0; j < VECTOR; j++) vector.of[j] = values[(i + j) % COUNT];
                *reinterpret_cast<Vector<C> *>(to + place_of(i * ROWS_APART)) = vector;
            }
        } else {
#pragma unroll
            for (unsigned i = 0; i < COUNT; i++) {
                to[factor.along_inner ? place_of(i * ROWS_APART) : i * INNER_APART * ROW] = values[i];
            }
        }
        return is_special;
    }
};

// Adds the products of one inner index to a thread's sums, for the first `COLS` of its columns.
template <class Shape, unsigned COLS, class C>
DAHL_DEVICE void add_products(const Vector<C> *a, const Vector<C> *b, TilePlace place, C (&sums)[EACH_ROWS][EACH_COLS]) {
    constexpr unsigned VECTOR = Vector<C>::SIZE;
    Vector<C> from_a[EACH_ROWS / VECTOR], from_b[COLS / VECTOR];
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS / VECTOR; i++) from_a[i] = a[i * Shape::SIDE_ROWS + place.row];
#pragma unroll
    for (unsigned j = 0; j < COLS / VECTOR; j++) from_b[j] = b[j * Shape::SIDE_COLS + place.vector<Shape>(VECTOR)];
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
#pragma unroll
        for (unsigned j = 0; j < COLS; j++) {
            sums[i][j] = multiply_add(from_a[i / VECTOR].of[i % VECTOR], from_b[j / VECTOR].of[j % VECTOR], sums[i][j]);
        }
    }
}

// The same for one column.
template <class Shape, class C>
DAHL_DEVICE void add_products_of_column(const Vector<C> *a, const Vector<C> *b, TilePlace place, unsigned j,
                                        C (&sums)[EACH_ROWS][EACH_COLS]) {
    constexpr unsigned VECTOR = Vector<C>::SIZE;
    C from_b = b[j / VECTOR * Shape::SIDE_COLS + place.vector<Shape>(VECTOR)].of[j % VECTOR];
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
        sums[i][j] = multiply_add(a[i / VECTOR * Shape::SIDE_ROWS + place.row].of[i % VECTOR], from_b, sums[i][j]);
    }
}

// A block's parts of both factors.
template <class Shape, class C, class A, class B> struct Panels {
    using Left = Panel<C, Shape::SIDE_ROWS, Shape::ROWS, A>;
    using Right = Panel<C, Shape::SIDE_COLS, Shape::COLS, B>;
    typename Left::Shared a;
    typename Right::Shared b;
};

// One tile of the product of `a` and `b` over the inner indices `inner_first .. inner_end`, its first element at `row` and
// `col`: `sums[i][j]` is this thread's element at `row + place.row + i * SIDE_ROWS`, `col + place.col + j * SIDE_COLS`.
//
// A factor has `Outer outer(size_t)`, the precomputed data of one of its rows (of `b`: columns), `Inner inner(size_t)`,
// that of an inner index, `Raw at(Outer, Inner)`, which loads an element, `C value(Raw)`, which converts it, and `bool
// along_inner`, the better direction to read. If `b` HAS_GAPS, places where nothing is to be multiplied, `is_gap(Outer,
// Inner)` tells them, and its elements there are zeros; gaps are skipped where `a` has an infinity or NaN, which times
// zero would be NaN. All threads of a block(256) must call this.
template <class Shape, class C, class A, class B>
DAHL_DEVICE void product_tile(Panels<Shape, C, A, B> &shared, size_t row, size_t col, size_t rows, size_t cols, size_t inner_first,
                              size_t inner_end, const A &a, const B &b, C (&sums)[EACH_ROWS][EACH_COLS]) {
    constexpr unsigned INNER = TILE_INNER<C>;
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
#pragma unroll
        for (unsigned j = 0; j < EACH_COLS; j++) sums[i][j] = 0;
    }
    if (inner_first >= inner_end) return;
    TilePlace place = TilePlace::of_thread<Shape>();
    typename Panels<Shape, C, A, B>::Left of_a(a, shared.a, 0, rows - row, inner_end);
    typename Panels<Shape, C, A, B>::Right of_b(b, shared.b, TILE_THREADS / 2, cols - col, inner_end);
    bool is_narrow = of_b.outers <= Shape::SIDE_COLS * EACH_COLS / 2;

    __syncthreads(); // who is still at the tile before reads there
    of_a.find_outers(row);
    of_b.find_outers(col);
    of_a.find_inners(inner_first, 0);
    of_b.find_inners(inner_first, 0);
    of_a.find_inners(inner_first + INNER, 1);
    of_b.find_inners(inner_first + INNER, 1);
    __syncthreads();
    of_a.keep_own();
    of_b.keep_own();
    of_a.fetch(0);
    of_b.fetch(0);
    unsigned buffer = 0;
    for (size_t inner = inner_first;; inner += INNER) {
        bool is_special = of_a.put(buffer);
        of_b.put(buffer);
        // After this barrier all threads have done the products of the step before, so the other buffer may be written.
        bool goes_around_gaps = false;
        if constexpr (B::HAS_GAPS) {
            goes_around_gaps = __syncthreads_or(is_special);
        } else {
            __syncthreads();
        }
        bool is_last = inner_end - inner <= INNER;
        if (!is_last) {
            of_a.fetch(buffer ^ 1);
            of_b.fetch(buffer ^ 1);
            of_a.find_inners(inner + 2 * INNER, buffer);
            of_b.find_inners(inner + 2 * INNER, buffer);
        }
        const auto &tile_a = shared.a.elements[buffer];
        const auto &tile_b = shared.b.elements[buffer];
        // Elements beyond the last inner index are not multiplied: an infinity times what is stored there would be NaN.
        unsigned count = is_last ? unsigned(inner_end - inner) : INNER;
        if (B::HAS_GAPS && goes_around_gaps) {
            if constexpr (B::HAS_GAPS) {
#pragma unroll 1
                for (unsigned k = 0; k < count; k++) {
                    auto at_inner = b.inner(inner + k);
#pragma unroll
                    for (unsigned j = 0; j < EACH_COLS; j++) {
                        unsigned at_col = place.col + j * Shape::SIDE_COLS;
                        if (at_col >= of_b.outers || b.is_gap(shared.b.outers[at_col], at_inner)) continue;
                        add_products_of_column<Shape>(tile_a[k], tile_b[k], place, j, sums);
                    }
                }
            }
        } else if (count < INNER) {
#pragma unroll 1
            for (unsigned k = 0; k < count; k++) add_products<Shape, EACH_COLS>(tile_a[k], tile_b[k], place, sums);
        } else if (is_narrow) {
#pragma unroll
            for (unsigned k = 0; k < INNER; k++) add_products<Shape, EACH_COLS / 2>(tile_a[k], tile_b[k], place, sums);
        } else {
#pragma unroll
            for (unsigned k = 0; k < INNER; k++) add_products<Shape, EACH_COLS>(tile_a[k], tile_b[k], place, sums);
        }
        if (is_last) break;
        buffer ^= 1;
    }
}

// Calls `take(i, j, of_row(row), of_col(col))` for each of this thread's elements of a tile that are inside of the
// product, and `of_row` and `of_col` once for each row and column.
template <class Shape, class OfRow, class OfCol, class Take>
DAHL_DEVICE void for_each_of_tile(size_t row, size_t col, size_t rows, size_t cols, OfRow of_row, OfCol of_col, Take take) {
    TilePlace place = TilePlace::of_thread<Shape>();
    row += place.row;
    decltype(of_row(row)) of_rows[EACH_ROWS] = {};
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
        if (row + i * Shape::SIDE_ROWS < rows) of_rows[i] = of_row(row + i * Shape::SIDE_ROWS);
    }
#pragma unroll
    for (unsigned j = 0; j < EACH_COLS; j++) {
        size_t at_col = col + place.col + j * Shape::SIDE_COLS;
        if (at_col >= cols) continue;
        auto of_this_col = of_col(at_col);
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS; i++) {
            if (row + i * Shape::SIDE_ROWS < rows) take(i, j, of_rows[i], of_this_col);
        }
    }
}

// Calls `body(row, col)` with the first element of each tile of this block.
template <class Shape, class Body> DAHL_DEVICE void for_each_tile(size_t rows, size_t cols, Body body) {
    for (size_t row = size_t(blockIdx.y) * Shape::ROWS; row < rows; row += size_t(gridDim.y) * Shape::ROWS) {
        for (size_t col = size_t(blockIdx.x) * Shape::COLS; col < cols; col += size_t(gridDim.x) * Shape::COLS) body(row, col);
    }
}

// Computes the product of `a` and `b` over the inner indices `inner_first .. inner_end`, and calls `store(of_row(row),
// of_col(col), value)` for each element.
template <class Shape, class C, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void product_in_tiles(Panels<Shape, C, A, B> &shared, size_t rows, size_t cols, size_t inner_first, size_t inner_end,
                                  const A &a, const B &b, OfRow of_row, OfCol of_col, Store store) {
    for_each_tile<Shape>(rows, cols, [&](size_t row, size_t col) {
        C sums[EACH_ROWS][EACH_COLS];
        product_tile(shared, row, col, rows, cols, inner_first, inner_end, a, b, sums);
        for_each_of_tile<Shape>(row, col, rows, cols, of_row, of_col,
                                [&](unsigned i, unsigned j, const auto &of_this_row, const auto &of_this_col) {
                                    store(of_this_row, of_this_col, sums[i][j]);
                                });
    });
}

// The same for grid(blocks(cols, 128), blocks(rows, 64)), block(256).
template <class C, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void tiled_product(size_t rows, size_t cols, size_t inner_first, size_t inner_end, const A &a, const B &b, OfRow of_row,
                               OfCol of_col, Store store) {
    __shared__ Panels<Tile, C, A, B> shared;
    product_in_tiles(shared, rows, cols, inner_first, inner_end, a, b, of_row, of_col, store);
}

// The same over all inner indices, in flat tiles if there are few rows.
template <class C, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void flat_or_tiled_product(size_t rows, size_t cols, size_t inner, const A &a, const B &b, OfRow of_row, OfCol of_col,
                                       Store store) {
    union Either {
        Panels<Tile, C, A, B> tile;
        Panels<FlatTile, C, A, B> flat;
    };
    __shared__ Either shared;
    if (rows <= FlatTile::ROWS) {
        product_in_tiles(shared.flat, rows, cols, 0, inner, a, b, of_row, of_col, store);
    } else {
        product_in_tiles(shared.tile, rows, cols, 0, inner, a, b, of_row, of_col, store);
    }
}

} // namespace dahl
