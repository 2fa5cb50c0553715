// permute: axis `i` of the output is axis `axes[i]` of the input.
//
// An array whose last axis stays is copied in runs: neighbouring threads have neighbouring elements on both sides. If
// another axis becomes the last, one of the two sides would touch a new line of memory for each element. So a block takes
// tiles of 32 x 32 elements of the two axes that are the last of the input and the last of the output, through shared
// memory, as in `transpose.cu`; the other axes only say where a tile begins. Each element is read and written once.
#include "dahl.cuh"

using namespace dahl;

constexpr unsigned TILE = 32, TILE_ROWS = 8;

// The input, with its axes in the order of the output's.
template <class T> DAHL_DEVICE View<T, ANY> permuted(const View<T, ANY> &input, const Extents<8> &axes) {
    View<T, ANY> result = input;
#pragma unroll
    for (int axis = 0; axis < MAX_RANK; axis++) {
        if (axis >= input.rank()) continue;
        result.extents[axis] = input.extent(axes[axis]);
        result.strides[axis] = input.stride(axes[axis]);
    }
    return result;
}

// The array's elements at index 0 of two of its axes.
template <class T> DAHL_DEVICE View<T, ANY> without(View<T, ANY> array, int first, int second) {
#pragma unroll
    for (int axis = 0; axis < MAX_RANK; axis++) {
        if (axis == first || axis == second) array.extents[axis] = 1;
    }
    return array;
}

DAHL_KERNEL(permute, types(T: element), grid(blocks(out.len(), 1024)), block(32, 8))
template <class T> __global__ void permute(View<const T, ANY> input, View<T, ANY> out, Extents<8> axes, size_t rank) {
    __shared__ T tile[TILE][TILE + 1];
    View<const T, ANY> from = permuted(input, axes);
    int last = out.rank() - 1, lasts = last; // where the input's last axis is now
    for (int axis = 0; axis < last; axis++) {
        if (axes[axis] == size_t(last)) lasts = axis;
    }
    if (lasts == last) {
        for (size_t i = size_t(blockIdx.x) * TILE * TILE_ROWS + thread_in_block(); i < out.len(); i += size_t(gridDim.x) * TILE * TILE_ROWS) {
            out.element(i) = from.element(i);
        }
        return;
    }
    size_t rows = out.extent(lasts), cols = out.extent(last), tile_rows = ceil_div(rows, TILE), tile_cols = ceil_div(cols, TILE);
    View<const T, ANY> from_others = without(from, lasts, last);
    View<T, ANY> to_others = without(out, lasts, last);
    size_t tiles = to_others.len() * tile_rows * tile_cols;
    if (out.len() == 0) return;
    for (size_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        Division beside = divide(number, tile_cols), below = divide(beside.quotient, tile_rows);
        size_t row = below.remainder * TILE, col = beside.remainder * TILE;
        const T *source = from_others.data + from_others.place(below.quotient, 0, from.rank());
        T *target = to_others.data + to_others.place(below.quotient, 0, out.rank());
        for (unsigned y = threadIdx.y; y < TILE; y += TILE_ROWS) {
            size_t r = row + threadIdx.x, c = col + y;
            if (r < rows && c < cols) tile[y][threadIdx.x] = source[int64_t(r) * from.stride(lasts) + int64_t(c) * from.stride(last)];
        }
        __syncthreads();
        for (unsigned y = threadIdx.y; y < TILE; y += TILE_ROWS) {
            size_t r = row + y, c = col + threadIdx.x;
            if (r < rows && c < cols) target[int64_t(r) * out.stride(lasts) + int64_t(c) * out.stride(last)] = tile[threadIdx.x][y];
        }
        __syncthreads(); // before the next tile is read into the same place
    }
}
