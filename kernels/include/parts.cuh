// Parts of a matrix product: the inner dimension is split among blocks (split-K).
//
// A product of few tiles over many inner indices, such as the gradient by a convolution's filters, has too few blocks
// for a device. So its inner dimension is split into parts, each with blocks of its own (their z), which leave their
// sums in scratch memory, [part, row, col]. A second pass adds these in order.
#pragma once

#include "fold.cuh"
#include "lanes.cuh"
#include "product.cuh"

namespace dahl {

// The number of tiles of all parts to aim at: two for each multiprocessor of a device (an H100 has 132), which runs
// both at the same time.
constexpr uint64_t PARTS_TILES = 264;

// The number of parts for `inner` indices, of at least `least` each. The kernels' `let(parts = ..)` is the same formula.
DAHL_DEVICE uint64_t parts_of(uint64_t rows, uint64_t cols, uint64_t inner, uint64_t least) {
    uint64_t parts = PARTS_TILES / (blocks(cols, Tile::COLS) * blocks(rows, Tile::ROWS)), most = inner / least;
    parts = parts < most ? parts : most;
    return parts > 1 ? parts : 1;
}

// This block's part of the inner indices: a multiple of 16, except for the last, so whole steps or halves of them.
constexpr uint64_t PART_STEP = 16;
struct Part {
    size_t first, end;

    static DAHL_DEVICE Part of_block(size_t inner) {
        size_t each = ceil_div(ceil_div(inner, gridDim.z), PART_STEP) * PART_STEP, first = blockIdx.z * each;
        first = first < inner ? first : inner;
        return {first, inner - first < each ? inner : first + each};
    }
};

// Calls `add(i, sum)` with the sum of all parts of each of `len` elements. For grid(blocks(len, 8)), block(32, 8).
template <class C, class Add> DAHL_DEVICE void sum_parts(const C *parts, uint64_t count, size_t len, Add add) {
    fold_lanes<Sum<C>>(
        len, count, len, [](size_t i) { return i; }, [&](auto &sum, size_t i, size_t part) { sum.add(parts[part * len + i]); },
        [&](size_t i, const auto &sum) { add(i, sum.value); });
}

} // namespace dahl
