// Matrix products in tiles, for `matmul` and the convolutions.
//
//     product[row, col] = sum over inner of a[row, inner] * b[inner, col]
//
// All columns need every element of `a`, all rows every element of `b`. A block computes a tile of 64 x 128 of the
// product, and reads the factors in steps of some inner indices into shared memory, so each element is read once for 128 or
// 64 products. A convolution of few channels uses flat tiles of 32 x 256, which waste less beyond the last channel.
//
// There are two ways to multiply what is in shared memory, with the same interface:
//
//     elements     a step        way
//     f32, f64     16, 8 inner   multiply-adds of single threads (`fma_tile.cuh`)
//     f16, bf16    32 inner      tensor cores, which sum in floats (`tensor_tile.cuh`); 16 inner in flat tiles
//
// Before compute capability 8.0, halves are multiplied as floats are. In both ways a thread has 4 x 8 elements of the tile in
// registers, and its `Place` says which.
//
// While a step's products are computed, the next step's elements are prefetched into registers, and then stored in the
// other of two buffers in shared memory (double buffering). So a step has one barrier, and the latency of memory is
// hidden behind a step (CUTLASS, Efficient GEMM in CUDA, Software Pipelining:
// https://docs.nvidia.com/cutlass/media/docs/cpp/efficient_gemm.html).
//
// The factors need not be matrices in memory: they are asked for elements (`fetch.cuh`), and a convolution's factor computes
// the matrix of patches while it is read (implicit GEMM; Chetlur et al. 2014, cuDNN: Efficient Primitives for Deep
// Learning, section 3).
#pragma once

#include "fma_tile.cuh"
#include "tensor_tile.cuh"

namespace dahl {

// How tiles of products of this type are computed.
template <class Shape, class T, bool IS_TENSOR> struct WayOf {
    using Type = FmaTile<Shape, T>;
};
template <class Shape, class T> struct WayOf<Shape, T, true> {
    using Type = TensorTile<Shape, T>;
};
template <class Shape, class T> using Way = typename WayOf<Shape, T, IS_FOR_TENSOR_CORES<T>>::Type;

// A block's parts of both factors in shared memory.
template <class Shape, class T, class A, class B> struct Panels {
    using Left = typename Way<Shape, T>::template Left<A>;
    using Right = typename Way<Shape, T>::template Right<B>;
    typename Left::Shared a;
    typename Right::Shared b;
};

// The sums of a thread so far, beside those that tensor cores continue. They cut off each sum, so its errors all have one
// sign, and grow with the number of its terms; here sums of a bounded number of terms are added by rounded additions.
//
// They are used once in many steps, so they take no registers: the compiler leaves an array in a thread's local memory if
// its elements are at places that it does not know.
template <class C> struct Totals {
    C of[EACH_ROWS * EACH_COLS + 1];

    // Takes the sums, the first ones or more, and leaves zeros.
    DAHL_DEVICE void take(C (&sums)[EACH_ROWS][EACH_COLS], bool are_first) {
        if (!are_first) add_to(sums);
        unsigned first = threadIdx.x % 2;
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS * EACH_COLS; i++) {
            C &sum = sums[i / EACH_COLS][i % EACH_COLS];
            of[first + i] = sum;
            sum = 0;
        }
    }
    DAHL_DEVICE void add_to(C (&sums)[EACH_ROWS][EACH_COLS]) const {
        unsigned first = threadIdx.x % 2;
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS * EACH_COLS; i++) sums[i / EACH_COLS][i % EACH_COLS] += of[first + i];
    }
};

// One tile of the product of `a` and `b` over the inner indices `inner_first .. inner_end`, its first element at `row` and
// `col`: `sums[i][j]` is this thread's element at `row + place.row(i)`, `col + place.col(j)`.
//
// Where `b` has gaps and `a` an infinity or NaN, which times zero would be NaN, the gaps are skipped, product by product. All
// threads of a block(256) must call this.
template <class Shape, class T, class A, class B>
DAHL_DEVICE void product_tile(Panels<Shape, T, A, B> &shared, size_t row, size_t col, size_t rows, size_t cols, size_t inner_first,
                              size_t inner_end, const A &a, const B &b, compute_t<T> (&sums)[EACH_ROWS][EACH_COLS]) {
    using Tiles = Way<Shape, T>;
    constexpr unsigned INNER = Tiles::INNER;
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
#pragma unroll
        for (unsigned j = 0; j < EACH_COLS; j++) sums[i][j] = 0;
    }
    if (inner_first >= inner_end) return;
    auto place = Tiles::Place::of_thread();
    typename Panels<Shape, T, A, B>::Left of_a(a, shared.a, 0, rows - row, inner_end);
    typename Panels<Shape, T, A, B>::Right of_b(b, shared.b, TILE_THREADS / 2, cols - col, inner_end);

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
    Totals<compute_t<T>> totals;
    for (size_t inner = inner_first;; inner += INNER) {
        bool is_last = inner_end - inner <= INNER;
        unsigned count = is_last ? unsigned(inner_end - inner) : INNER;
        bool is_special = of_a.put(buffer, count);
        of_b.put(buffer, count);
        // After this barrier all threads have done the products of the step before, so the other buffer may be written.
        bool goes_around_gaps = false;
        if constexpr (B::HAS_GAPS) {
            goes_around_gaps = __syncthreads_or(is_special);
        } else {
            __syncthreads();
        }
        if (!is_last) {
            of_a.fetch(buffer ^ 1);
            of_b.fetch(buffer ^ 1);
            of_a.find_inners(inner + 2 * INNER, buffer);
            of_b.find_inners(inner + 2 * INNER, buffer);
        }
        if (goes_around_gaps) {
            if constexpr (B::HAS_GAPS) {
#pragma unroll 1
                for (unsigned k = 0; k < count; k++) {
                    auto at_inner = b.inner(inner + k);
#pragma unroll
                    for (unsigned j = 0; j < EACH_COLS; j++) {
                        unsigned at_col = place.col(j);
                        if (at_col >= of_b.outers || b.is_gap(shared.b.indices.outers[at_col], at_inner)) continue;
                        auto from_b = of_b.element(buffer, at_col, k);
#pragma unroll
                        for (unsigned i = 0; i < EACH_ROWS; i++) {
                            sums[i][j] = multiply_add(of_a.element(buffer, place.row(i), k), from_b, sums[i][j]);
                        }
                    }
                }
            }
        } else {
            Tiles::add(of_a, of_b, buffer, count, place, sums);
        }
        if (is_last) break;
        if constexpr (Tiles::LONGEST_SUM != 0) {
            size_t done = inner - inner_first + INNER;
            if (done % Tiles::LONGEST_SUM == 0) totals.take(sums, done == Tiles::LONGEST_SUM);
        }
        buffer ^= 1;
    }
    if constexpr (Tiles::LONGEST_SUM != 0) {
        if (inner_end - inner_first > Tiles::LONGEST_SUM) totals.add_to(sums);
    }
}

// Calls `take(i, j, of_row(row), of_col(col))` for each of this thread's elements of a tile that are inside of the
// product, and `of_row` and `of_col` once for each row and column.
template <class Tiles, class OfRow, class OfCol, class Take>
DAHL_DEVICE void for_each_of_tile(size_t row, size_t col, size_t rows, size_t cols, OfRow of_row, OfCol of_col, Take take) {
    auto place = Tiles::Place::of_thread();
    decltype(of_row(row)) of_rows[EACH_ROWS] = {};
#pragma unroll
    for (unsigned i = 0; i < EACH_ROWS; i++) {
        if (row + place.row(i) < rows) of_rows[i] = of_row(row + place.row(i));
    }
#pragma unroll
    for (unsigned j = 0; j < EACH_COLS; j++) {
        size_t at_col = col + place.col(j);
        if (at_col >= cols) continue;
        auto of_this_col = of_col(at_col);
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS; i++) {
            if (row + place.row(i) < rows) take(i, j, of_rows[i], of_this_col);
        }
    }
}

// Computes the product of `a` and `b`, factors of elements of type `T`, over the inner indices `inner_first .. inner_end`,
// and calls `store(of_row(row), of_col(col), value)` for each element.
template <class Shape, class T, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void product_in_tiles(Panels<Shape, T, A, B> &shared, size_t rows, size_t cols, size_t inner_first, size_t inner_end,
                                  const A &a, const B &b, OfRow of_row, OfCol of_col, Store store) {
    for_each_tile<Shape>(rows, cols, [&](size_t row, size_t col) {
        compute_t<T> sums[EACH_ROWS][EACH_COLS];
        product_tile(shared, row, col, rows, cols, inner_first, inner_end, a, b, sums);
        for_each_of_tile<Way<Shape, T>>(row, col, rows, cols, of_row, of_col,
                                        [&](unsigned i, unsigned j, const auto &of_this_row, const auto &of_this_col) {
                                            store(of_this_row, of_this_col, sums[i][j]);
                                        });
    });
}

// The same for grid(blocks(cols, 128), blocks(rows, 64)), block(256).
template <class T, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void tiled_product(size_t rows, size_t cols, size_t inner_first, size_t inner_end, const A &a, const B &b, OfRow of_row,
                               OfCol of_col, Store store) {
    __shared__ Panels<Tile, T, A, B> shared;
    product_in_tiles(shared, rows, cols, inner_first, inner_end, a, b, of_row, of_col, store);
}

// The same over all inner indices, in flat tiles if there are few rows.
template <class T, class A, class B, class OfRow, class OfCol, class Store>
DAHL_DEVICE void flat_or_tiled_product(size_t rows, size_t cols, size_t inner, const A &a, const B &b, OfRow of_row, OfCol of_col,
                                       Store store) {
    union Either {
        Panels<Tile, T, A, B> tile;
        Panels<FlatTile, T, A, B> flat;
    };
    __shared__ Either shared;
    if (rows <= FlatTile::ROWS) {
        product_in_tiles(shared.flat, rows, cols, 0, inner, a, b, of_row, of_col, store);
    } else {
        product_in_tiles(shared.tile, rows, cols, 0, inner, a, b, of_row, of_col, store);
    }
}

} // namespace dahl
