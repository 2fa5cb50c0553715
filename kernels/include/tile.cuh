// The tiles of a matrix product (`product.cuh`): their sizes, and which of them a block computes.
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr unsigned TILE_THREADS = 256;
// A thread has this many rows and columns of its tile: 32 elements.
constexpr unsigned EACH_ROWS = 4, EACH_COLS = 8;

template <unsigned TILE_ROWS, unsigned TILE_COLS> struct TileShape {
    static constexpr unsigned ROWS = TILE_ROWS, COLS = TILE_COLS;
    static_assert(ROWS * COLS == TILE_THREADS * EACH_ROWS * EACH_COLS, "the threads of a block have all elements");
};
using Tile = TileShape<64, 128>;
using FlatTile = TileShape<32, 256>; // for products of few rows

// Calls `body(row, col)` with the first element of each tile of this block.
template <class Shape, class Body> DAHL_DEVICE void for_each_tile(size_t rows, size_t cols, Body body) {
    for (size_t row = size_t(blockIdx.y) * Shape::ROWS; row < rows; row += size_t(gridDim.y) * Shape::ROWS) {
        for (size_t col = size_t(blockIdx.x) * Shape::COLS; col < cols; col += size_t(gridDim.x) * Shape::COLS) body(row, col);
    }
}

} // namespace dahl
