// A tile of a matrix product by multiply-adds of single threads: for floats and doubles, and for halves on a device without
// tensor cores of their kind.
//
// Register blocking: each of the 256 threads has 4 x 8 elements of the tile in registers, and does 32 products for 12
// numbers that it reads from shared memory, 16 bytes at a time (Volkov and Demmel 2008, Benchmarking GPUs to Tune Dense
// Linear Algebra). Products are summed in the compute type, one after the other.
#pragma once

#include "fetch.cuh"

namespace dahl {

// The elements that a thread reads from shared memory by one load.
template <class C> struct alignas(16) Vector {
    static constexpr unsigned SIZE = 16 / sizeof(C);
    C of[SIZE];
};

// A product of doubles is rounded before it is added, as in the reference, which has no wider range: so both overflow
// for the same inputs.
DAHL_DEVICE float multiply_add(float a, float b, float sum) { return ::fmaf(a, b, sum); }
DAHL_DEVICE double multiply_add(double a, double b, double sum) { return a * b + sum; }

// A block's part of one factor in shared memory: `SIZE` of its rows (of the right factor: columns), in the compute type.
template <unsigned SIDE, unsigned SIZE, unsigned INNER, class T, class Factor> struct FmaPanel : Fetch<SIZE, INNER, Factor> {
    using C = compute_t<T>;
    using Base = Fetch<SIZE, INNER, Factor>;
    using Base::COUNT, Base::ROWS_APART, Base::INNER_APART, Base::factor;
    static constexpr unsigned VECTOR = Vector<C>::SIZE, ROW = SIZE + VECTOR;

    // Each row has the elements of one inner index, padded by one vector to avoid bank conflicts when a column is
    // written.
    struct Shared {
        Vector<C> elements[2][INNER][SIZE / VECTOR + 1];
        typename Base::Indices indices;
    };

    Shared &shared;
    C *place; // of the first element that this thread fetches

    DAHL_DEVICE FmaPanel(const Factor &factor, Shared &shared, unsigned helper, size_t outers, size_t inner_end)
        : Base(factor, shared.indices, helper, outers, inner_end), shared(shared) {
        place = shared.elements[0][this->inner_of(0)][0].of + place_of(this->first);
    }

    // Where a row is stored: the elements of a vector, which belong to one thread, are rows that are SIDE apart. If
    // rows `a` and `b` have no bits in common, `place_of(a + b) == place_of(a) + place_of(b)`.
    static DAHL_DEVICE constexpr unsigned place_of(unsigned row) {
        unsigned each = row / SIDE;
        return (each / VECTOR * SIDE + row % SIDE) * VECTOR + each % VECTOR;
    }

    DAHL_DEVICE C element(unsigned buffer, unsigned row, unsigned inner) const {
        return shared.elements[buffer][inner][0].of[place_of(row)];
    }

    // Writes the fetched elements to shared memory. Returns whether one of them is infinite or NaN. Those beyond the `count`
    // inner indices that there are will not be multiplied.
    DAHL_DEVICE bool put(unsigned buffer, unsigned) {
        C *to = place + buffer * (INNER * ROW);
        C values[COUNT];
        bool is_special = false;
#pragma unroll
        for (unsigned i = 0; i < COUNT; i++) {
            values[i] = widen(factor.value(this->fetched[i]));
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

// How the threads of a block are arranged over a tile: each has rows that are `SIDE_ROWS` apart and columns that are
// `SIDE_COLS` apart. So neighbouring threads have neighbouring elements.
//
// A warp has 4 x 8 threads, which read fewer distinct numbers from shared memory than a row of 32 would. Neighbouring
// threads alternate between two rows, since 16-byte reads are served for half a warp at a time if threads next to each
// other or next but one read the same address.
template <class Shape, class T> struct FmaTile {
    using C = compute_t<T>;
    static constexpr unsigned VECTOR = Vector<C>::SIZE;
    static constexpr unsigned SIDE_ROWS = Shape::ROWS / EACH_ROWS, SIDE_COLS = 16;
    // The inner indices of a step.
    static constexpr unsigned INNER = 4 * VECTOR;
    // Sums are rounded to nearest, so they may have any number of terms.
    static constexpr unsigned LONGEST_SUM = 0;

    template <class Factor> using Left = FmaPanel<SIDE_ROWS, Shape::ROWS, INNER, T, Factor>;
    template <class Factor> using Right = FmaPanel<SIDE_COLS, Shape::COLS, INNER, T, Factor>;

    // Of a thread.
    struct Place {
        unsigned first_row, first_col;

        static DAHL_DEVICE Place of_thread() {
            constexpr unsigned WARPS = Shape::COLS / EACH_COLS / 8; // beside each other
            unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, beside = warp % WARPS * 8 + lane / 2 % 8;
            return {warp / WARPS * 4 + lane / 16 * 2 + lane % 2,
                    beside / SIDE_COLS * (SIDE_COLS * EACH_COLS) + beside % SIDE_COLS};
        }
        // Its rows and columns.
        DAHL_DEVICE unsigned row(unsigned i) const { return first_row + i * SIDE_ROWS; }
        DAHL_DEVICE unsigned col(unsigned j) const { return first_col + j * SIDE_COLS; }
        // The offset of its first vector in a row of the right panel (`FmaPanel::place_of`).
        DAHL_DEVICE unsigned vector() const { return (first_col - first_col % SIDE_COLS) / VECTOR + first_col % SIDE_COLS; }
    };

    // Four columns of a thread, `col(4 * k)` to `col(4 * k + 3)`, are a quad: that of a column, and its number in the quad.
    static constexpr unsigned QUADS_BESIDE = SIDE_COLS;
    static DAHL_DEVICE size_t quad(size_t col) { return col / (4 * SIDE_COLS) * SIDE_COLS + col % SIDE_COLS; }
    static DAHL_DEVICE unsigned in_quad(size_t col) { return col / SIDE_COLS % 4; }

    // Adds the products of a step of `count` inner indices to a thread's sums.
    template <class A, class B>
    static DAHL_DEVICE void add(const Left<A> &a, const Right<B> &b, unsigned buffer, unsigned count, Place place,
                                C (&sums)[EACH_ROWS][EACH_COLS]) {
        const auto &tile_a = a.shared.elements[buffer];
        const auto &tile_b = b.shared.elements[buffer];
        // Elements beyond the last inner index are not multiplied: an infinity times what is stored there would be NaN.
        if (count < INNER) {
#pragma unroll 1
            for (unsigned k = 0; k < count; k++) add_of_inner<EACH_COLS>(tile_a[k], tile_b[k], place, sums);
        } else if (b.outers <= SIDE_COLS * EACH_COLS / 2) {
#pragma unroll
            for (unsigned k = 0; k < INNER; k++) add_of_inner<EACH_COLS / 2>(tile_a[k], tile_b[k], place, sums);
        } else {
#pragma unroll
            for (unsigned k = 0; k < INNER; k++) add_of_inner<EACH_COLS>(tile_a[k], tile_b[k], place, sums);
        }
    }

  private:
    // Adds the products of one inner index, for the first `COLS` of a thread's columns.
    template <unsigned COLS>
    static DAHL_DEVICE void add_of_inner(const Vector<C> *a, const Vector<C> *b, Place place, C (&sums)[EACH_ROWS][EACH_COLS]) {
        Vector<C> from_a[EACH_ROWS / VECTOR], from_b[COLS / VECTOR];
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS / VECTOR; i++) from_a[i] = a[i * SIDE_ROWS + place.first_row];
#pragma unroll
        for (unsigned j = 0; j < COLS / VECTOR; j++) from_b[j] = b[j * SIDE_COLS + place.vector()];
#pragma unroll
        for (unsigned i = 0; i < EACH_ROWS; i++) {
#pragma unroll
            for (unsigned j = 0; j < COLS; j++) {
                sums[i][j] = multiply_add(from_a[i / VECTOR].of[i % VECTOR], from_b[j / VECTOR].of[j % VECTOR], sums[i][j]);
            }
        }
    }
};

} // namespace dahl
