// transpose: out[j, i] = input[i, j].
//
// If a matrix is read row by row, its transpose is written column by column: one of the two would touch a new line of
// memory for each element. So a block takes a tile of 32 x 32 through shared memory: it reads rows of the input, and
// writes rows of the output, which are columns of the tile. A row of the tile has 33 elements: with 32, all elements of
// a column would be in one of the 32 banks of shared memory, and be read one after the other (Harris 2013, An Efficient
// Matrix Transpose in CUDA C/C++). A block's 8 rows of threads move 4 rows of the tile each, to amortise the
// computation of their place.
#include "dahl.cuh"

using namespace dahl;

constexpr unsigned TILE = 32, TILE_ROWS = 8;

DAHL_KERNEL(transpose, types(T: element), grid(blocks(input.extent(1), 32), blocks(input.extent(0), 32)), block(32, 8))
template <class T> __global__ void transpose(View<const T, 2> input, View<T, 2> out) {
    __shared__ T tile[TILE][TILE + 1];
    size_t rows = input.extent(0), cols = input.extent(1);
    for (size_t row = size_t(blockIdx.y) * TILE; row < rows; row += size_t(gridDim.y) * TILE) {
        for (size_t col = size_t(blockIdx.x) * TILE; col < cols; col += size_t(gridDim.x) * TILE) {
            for (unsigned y = threadIdx.y; y < TILE; y += TILE_ROWS) {
                if (row + y < rows && col + threadIdx.x < cols) tile[y][threadIdx.x] = input.at(row + y, col + threadIdx.x);
            }
            __syncthreads();
            for (unsigned y = threadIdx.y; y < TILE; y += TILE_ROWS) {
                if (col + y < cols && row + threadIdx.x < rows) out.at(col + y, row + threadIdx.x) = tile[threadIdx.x][y];
            }
            __syncthreads(); // before the next tile is read into the same place
        }
    }
}
