// Matrix products in tiles: what `matmul` and the three convolutions are made of.
//
//     product[row, col] = sum over inner of a[row, inner] * b[inner, col]
//
// Every element of `a` is needed by all columns, every element of `b` by all rows. A block computes a tile of 64 x 64
// of the product and reads 64 x 16 and 16 x 64 of the factors at a time into shared memory, so each element is read once
// for 64 products. Each of the 256 threads has 4 x 4 of the tile in registers: for 8 numbers that it reads from shared memory
// it does 16 products, and neighbouring threads have neighbouring columns (Volkov and Demmel 2008, Benchmarking GPUs to
// Tune Dense Linear Algebra). Products are summed up in the compute type, one after the other.
//
// The factors need not be matrices in memory: they are asked for elements, and a convolution's makes a matrix of patches
// as it is read (implicit GEMM; Chetlur et al. 2014, cuDNN: Efficient Primitives for Deep Learning, section 3).
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr unsigned TILE = 64, TILE_INNER = 16, TILE_SIDE = 16;
constexpr unsigned TILE_THREADS = TILE_SIDE * TILE_SIDE, TILE_EACH = TILE / TILE_SIDE;

// Which elements of a factor's tile a thread fetches: neighbouring threads go along the inner dimension, or along rows
// (of `b`: columns), as the factor lies in memory. Each thread stays in its rows from step to step.
struct Fetch {
    bool along_inner;

    DAHL_DEVICE unsigned outer(unsigned i) const {
        unsigned thread = thread_in_block();
        return along_inner ? thread / TILE_INNER + i * (TILE_THREADS / TILE_INNER) : thread % TILE;
    }
    DAHL_DEVICE unsigned inner(unsigned i) const {
        unsigned thread = thread_in_block();
        return along_inner ? thread % TILE_INNER : thread / TILE + i * (TILE_THREADS / TILE);
    }
};

// One tile of the product of `a` and `b` over the inner indices `inner_first .. inner_end`, its first element at `row` and `col`:
// `sums[i][j]` is this thread's element at `row + threadIdx.y + i * TILE_SIDE`, `col + threadIdx.x + j * TILE_SIDE`.
//
// A factor has `Outer outer(size_t)`, what is to be known of one of its rows (of `b`: columns), `C at(Outer, size_t inner)`, and
// `bool along_inner`, how it is best read. If `b` HAS_GAPS, places where nothing is to be multiplied, it says which (`is_gap`), and has zeros
// there; they are gone around where `a` has an infinity or NaN, with which zero would make NaN. To be called by all threads of a
// block(16, 16).
template <class C, class A, class B>
DAHL_DEVICE void product_tile(size_t row, size_t col, size_t rows, size_t cols, size_t inner_first, size_t inner_end, const A &a,
                              const B &b, C (&sums)[TILE_EACH][TILE_EACH]) {
    // Of `a` the columns lie in rows: those that are read together are beside each other. One more place, so that
    // writing them does not wait for one bank.
    __shared__ C tile_a[TILE_INNER][TILE + 1];
    __shared__ C tile_b[TILE_INNER][TILE + 1];
    Fetch fetch_a = {a.along_inner}, fetch_b = {b.along_inner};
    decltype(a.outer(0)) of_a[TILE_EACH];
    decltype(b.outer(0)) of_b[TILE_EACH];
#pragma unroll
    for (unsigned i = 0; i < TILE_EACH; i++) {
        if (row + fetch_a.outer(i) < rows) of_a[i] = a.outer(row + fetch_a.outer(i));
        if (col + fetch_b.outer(i) < cols) of_b[i] = b.outer(col + fetch_b.outer(i));
#pragma unroll
        for (unsigned j = 0; j < TILE_EACH; j++) sums[i][j] = 0;
    }
    for (size_t inner = inner_first; inner < inner_end; inner += TILE_INNER) {
#pragma unroll
        for (unsigned i = 0; i < TILE_EACH; i++) {
            unsigned at_a = fetch_a.inner(i), at_b = fetch_b.inner(i);
            bool has_a = row + fetch_a.outer(i) < rows && inner + at_a < inner_end;
            bool has_b = col + fetch_b.outer(i) < cols && inner + at_b < inner_end;
            tile_a[at_a][fetch_a.outer(i)] = has_a ? a.at(of_a[i], inner + at_a) : C(0);
            tile_b[at_b][fetch_b.outer(i)] = has_b ? b.at(of_b[i], inner + at_b) : C(0);
        }
        // What is beyond the last inner index is not multiplied: an infinity times that zero would be NaN.
        unsigned count = inner_end - inner < TILE_INNER ? unsigned(inner_end - inner) : TILE_INNER;
        bool goes_around_gaps = false;
        if constexpr (B::HAS_GAPS) {
            bool is_special = false;
            for (unsigned i = 0; i < TILE_EACH; i++) is_special |= !is_finite(tile_a[fetch_a.inner(i)][fetch_a.outer(i)]);
            goes_around_gaps = __syncthreads_or(is_special);
        } else {
            __syncthreads();
        }
        if constexpr (B::HAS_GAPS) {
            for (unsigned k = 0; goes_around_gaps && k < count; k++) {
                for (unsigned j = 0; j < TILE_EACH; j++) {
                    size_t at_col = col + threadIdx.x + j * TILE_SIDE;
                    if (at_col >= cols || b.is_gap(b.outer(at_col), inner + k)) continue;
                    C from_b = tile_b[k][threadIdx.x + j * TILE_SIDE];
                    for (unsigned i = 0; i < TILE_EACH; i++) sums[i][j] += tile_a[k][threadIdx.y + i * TILE_SIDE] * from_b;
                }
            }
        }
        for (unsigned k = 0; !goes_around_gaps && k < count; k++) {
            C from_a[TILE_EACH], from_b[TILE_EACH];
#pragma unroll
            for (unsigned i = 0; i < TILE_EACH; i++) {
                from_a[i] = tile_a[k][threadIdx.y + i * TILE_SIDE];
                from_b[i] = tile_b[k][threadIdx.x + i * TILE_SIDE];
            }
#pragma unroll
            for (unsigned i = 0; i < TILE_EACH; i++) {
#pragma unroll
                for (unsigned j = 0; j < TILE_EACH; j++) sums[i][j] += from_a[i] * from_b[j];
            }
        }
        __syncthreads();
    }
}

// Calls `take(i, j, row, col)` for each of this thread's elements of a tile that the product has.
template <class Take> DAHL_DEVICE void for_each_of_tile(size_t row, size_t col, size_t rows, size_t cols, Take take) {
#pragma unroll
    for (unsigned i = 0; i < TILE_EACH; i++) {
#pragma unroll
        for (unsigned j = 0; j < TILE_EACH; j++) {
            size_t at_row = row + threadIdx.y + i * TILE_SIDE, at_col = col + threadIdx.x + j * TILE_SIDE;
            if (at_row < rows && at_col < cols) take(i, j, at_row, at_col);
        }
    }
}

// Calls `body(row, col)` with the first element of each of a block's tiles. For grid(blocks(cols, 64), blocks(rows, 64)).
template <class Body> DAHL_DEVICE void for_each_tile(size_t rows, size_t cols, Body body) {
    for (size_t row = size_t(blockIdx.y) * TILE; row < rows; row += size_t(gridDim.y) * TILE) {
        for (size_t col = size_t(blockIdx.x) * TILE; col < cols; col += size_t(gridDim.x) * TILE) body(row, col);
    }
}

// The product of `a` and `b` over the inner indices `inner_first .. inner_end`: `store(row, col, value)` gets each element. For
// grid(blocks(cols, 64), blocks(rows, 64)), block(16, 16).
template <class C, class A, class B, class Store>
DAHL_DEVICE void tiled_product(size_t rows, size_t cols, size_t inner_first, size_t inner_end, const A &a, const B &b, Store store) {
    for_each_tile(rows, cols, [&](size_t row, size_t col) {
        C sums[TILE_EACH][TILE_EACH];
        product_tile<C>(row, col, rows, cols, inner_first, inner_end, a, b, sums);
        for_each_of_tile(row, col, rows, cols,
                         [&](unsigned i, unsigned j, size_t at_row, size_t at_col) { store(at_row, at_col, sums[i][j]); });
    });
}

} // namespace dahl
