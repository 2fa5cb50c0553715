// A tile of a matrix product by tensor cores: for halves, on a device of compute capability 8.0 or above.
//
// Each of the 8 warps of a block has 32 x 32 elements of the tile: 2 x 4 products of 16 x 8 (`mma.cuh`), of which each
// thread has four sums in registers, 32 in all. For 16 inner indices a warp loads 2 x 2 fragments by `ldmatrix`, each of 16
// x 16 halves, and does 8 products of them: 16 multiply-adds of 16 x 8 x 16 for 2 kB from shared memory.
//
//     of a warp's 32 x 32, thread `lane` has the rows      lane / 4 + 0, 8, 16, 24
//                                  and the columns         lane % 4 * 2 + 0, 1, 8, 9, 16, 17, 24, 25
//
// which is what `mma.sync` gives it, and it writes them, or whatever an epilogue makes of them, without an exchange.
//
// In shared memory a panel has the layout that the factor has in memory, so that neighbouring threads, which fetch
// neighbouring elements, also store neighbours: rows of inner indices, or rows of outer ones, which `ldmatrix` transposes.
// Each row is padded by 16 bytes. So rows begin at an odd multiple of 16 bytes from each other, and the eight of a matrix,
// which `ldmatrix` reads at once, are in different banks.
//
// Elements beyond the last inner index are stored as zeros, in both factors: they add nothing, and not even an infinity is
// multiplied by them. Elements beyond the last row or column are whatever is there, since no element of the product that
// exists depends on them.
#pragma once

#include "fetch.cuh"
#include "mma.cuh"

namespace dahl {

// The rows and columns of a warp.
constexpr unsigned WARP_SIDE = 32;

// A block's part of one factor in shared memory: `SIZE` of its rows (of the right factor: columns).
template <unsigned SIZE, unsigned INNER, class T, class Factor> struct TensorPanel : Fetch<SIZE, INNER, Factor> {
    using Base = Fetch<SIZE, INNER, Factor>;
    using Base::COUNT, Base::ROWS_APART, Base::INNER_APART, Base::factor;
    static constexpr unsigned PADDING = 16 / sizeof(T);
    static constexpr unsigned ALONG = SIZE * (INNER + PADDING), ACROSS = INNER * (SIZE + PADDING), LEN = ALONG > ACROSS ? ALONG : ACROSS;

    struct Shared {
        alignas(16) T elements[2][LEN];
        typename Base::Indices indices;
    };

    Shared &shared;
    // The distances of neighbours along the outer and the inner dimension.
    unsigned outer_step, inner_step;

    DAHL_DEVICE TensorPanel(const Factor &factor, Shared &shared, unsigned helper, size_t outers, size_t inner_end)
        : Base(factor, shared.indices, helper, outers, inner_end), shared(shared),
          outer_step(factor.along_inner ? INNER + PADDING : 1), inner_step(factor.along_inner ? 1 : SIZE + PADDING) {}

    DAHL_DEVICE unsigned place_of(unsigned row, unsigned inner) const { return row * outer_step + inner * inner_step; }

    DAHL_DEVICE float element(unsigned buffer, unsigned row, unsigned inner) const {
        return widen(shared.elements[buffer][place_of(row, inner)]);
    }

    // Writes the fetched elements to shared memory, zeros beyond the `count` inner indices that there are. Returns whether
    // one of them is infinite or NaN.
    DAHL_DEVICE bool put(unsigned buffer, unsigned count) {
        T *to = shared.elements[buffer] + place_of(this->first, this->inner_of(0));
        bool is_special = false;
        if (factor.along_inner) {
            bool exists = this->inner_of(0) < count;
#pragma unroll
            for (unsigned i = 0; i < COUNT; i++) {
                T value = exists ? factor.value(this->fetched[i]) : T();
                is_special |= !is_finite(value);
                to[i * ROWS_APART * (INNER + PADDING)] = value;
            }
        } else {
#pragma unroll
            for (unsigned i = 0; i < COUNT; i++) {
                T value = this->inner_of(i) < count ? factor.value(this->fetched[i]) : T();
                is_special |= !is_finite(value);
                to[i * INNER_APART * (SIZE + PADDING)] = value;
            }
        }
        return is_special;
    }

    // What this lane gives to `load_matrices` for the fragment of 16 rows from `row` on and the first 16 inner indices: the
    // address of a row of one of four matrices of 8 x 8, which are in the order of the registers of `mma.sync`. Those of
    // the left factor go down first, those of the right one, which are two fragments, along.
    template <bool IS_LEFT> DAHL_DEVICE SharedAddress fragment(unsigned buffer, unsigned row) const {
        unsigned lane = threadIdx.x % 32, matrix = lane / 8, in_matrix = lane % 8;
        unsigned lower = IS_LEFT ? matrix % 2 : matrix / 2, later = IS_LEFT ? matrix / 2 : matrix % 2;
        unsigned outer = row + 8 * lower + (factor.along_inner ? in_matrix : 0);
        unsigned inner = 8 * later + (factor.along_inner ? 0 : in_matrix);
        return shared_address(shared.elements[buffer] + place_of(outer, inner));
    }
    // Loads the fragment that is `row` rows and `inner` inner indices further.
    DAHL_DEVICE void load(Halves (&to)[4], SharedAddress fragment, unsigned row, unsigned inner) const {
        load_matrices(to, fragment + place_of(row, inner) * unsigned(sizeof(T)), !factor.along_inner);
    }
};

template <class Shape, class T> struct TensorTile {
    static constexpr unsigned WARPS_BESIDE = Shape::COLS / WARP_SIDE;
    // The inner indices of a step: as many as both buffers have space for in shared memory.
    static constexpr unsigned INNER = Shape::COLS > 128 ? MMA_INNER : 2 * MMA_INNER;
    // The most terms of a sum that tensor cores continue.
    static constexpr unsigned LONGEST_SUM = 512;

    template <class Factor> using Left = TensorPanel<Shape::ROWS, INNER, T, Factor>;
    template <class Factor> using Right = TensorPanel<Shape::COLS, INNER, T, Factor>;

    // Of a thread.
    struct Place {
        unsigned warp_row, warp_col, lane;

        static DAHL_DEVICE Place of_thread() {
            unsigned warp = threadIdx.x / 32;
            return {warp / WARPS_BESIDE * WARP_SIDE, warp % WARPS_BESIDE * WARP_SIDE, threadIdx.x % 32};
        }
        // Its rows and columns.
        DAHL_DEVICE unsigned row(unsigned i) const { return warp_row + lane / 4 + 8 * i; }
        DAHL_DEVICE unsigned col(unsigned j) const { return warp_col + lane % 4 * 2 + j / 2 * MMA_COLS + j % 2; }
    };

    // Four columns of a thread, `col(4 * k)` to `col(4 * k + 3)`, are a quad: that of a column, and its number in the quad.
    static constexpr unsigned QUADS_BESIDE = 4;
    static DAHL_DEVICE size_t quad(size_t col) { return col / (2 * MMA_COLS) * 4 + col % MMA_COLS / 2; }
    static DAHL_DEVICE unsigned in_quad(size_t col) { return col / MMA_COLS % 2 * 2 + col % 2; }

    // Adds the products of a step of `count` inner indices to a thread's sums.
    template <class A, class B>
    static DAHL_DEVICE void add(const Left<A> &a, const Right<B> &b, unsigned buffer, unsigned count, Place place,
                                float (&sums)[EACH_ROWS][EACH_COLS]) {
        if (place.warp_row >= a.outers || place.warp_col >= b.outers) return; // the whole warp is beyond the product
        SharedAddress at_a = a.template fragment<true>(buffer, place.warp_row), at_b = b.template fragment<false>(buffer, place.warp_col);
#pragma unroll
        for (unsigned inner = 0; inner < INNER; inner += MMA_INNER) {
            if (inner >= count) break;
            Halves of_a[EACH_ROWS / 2][4];
#pragma unroll
            for (unsigned i = 0; i < EACH_ROWS / 2; i++) a.load(of_a[i], at_a, i * MMA_ROWS, inner);
#pragma unroll
            for (unsigned j = 0; j < EACH_COLS; j += 4) {
                Halves of_b[4]; // of two products: 16 columns
                b.load(of_b, at_b, j * 4, inner);
#pragma unroll
                for (unsigned i = 0; i < EACH_ROWS; i += 2) {
                    multiply_matrices(T(), &sums[i][j], &sums[i + 1][j], of_a[i / 2], of_b[0], of_b[1]);
                    multiply_matrices(T(), &sums[i][j + 2], &sums[i + 1][j + 2], of_a[i / 2], of_b[2], of_b[3]);
                }
            }
        }
    }
};

} // namespace dahl
