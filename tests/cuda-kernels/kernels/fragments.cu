// Products of 16 x 16 by 16 x 8 numbers by one instruction of a tensor core, and the same with two lanes exchanged.
//
// Which lane has which element is written here as the PTX ISA has it: by lane and number of the element (Matrix fragments
// for mma.m16n8k16 with floating point type). `tensor_core.h` says it the other way round.
#include "dahl.cuh"
#include "mma.cuh"

using namespace dahl;

template <class T> DAHL_DEVICE Halves pair(T low, T high) { return low.bits | Halves(high.bits) << 16; }

// The fragments of a lane.
template <class T> DAHL_DEVICE void load_a(const View<const T, 2> &a, unsigned lane, Halves (&to)[4]) {
    unsigned group = lane >> 2, in_group = lane % 4;
    for (unsigned i = 0; i < 8; i += 2) {
        unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8, col = in_group * 2 + (i < 4 ? 0 : 8);
        to[i / 2] = pair(a.at(row, col), a.at(row, col + 1));
    }
}
template <class T> DAHL_DEVICE void load_b(const View<const T, 2> &b, unsigned lane, Halves (&to)[2]) {
    unsigned group = lane >> 2, in_group = lane % 4;
    for (unsigned i = 0; i < 4; i += 2) {
        unsigned row = in_group * 2 + (i < 2 ? 0 : 8);
        to[i / 2] = pair(b.at(row, group), b.at(row + 1, group));
    }
}
template <class T> DAHL_DEVICE void store(const View<T, 2> &out, unsigned lane, const float (&sums)[4]) {
    for (unsigned i = 0; i < 4; i++) out.at((lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)) = narrow<T>(sums[i]);
}

template <class T>
DAHL_DEVICE void multiply(const View<const T, 2> &a, const View<const T, 2> &b, const View<T, 2> &out, unsigned lane_of_a,
                          unsigned lane_of_b, unsigned lane_of_sums) {
    Halves of_a[4], of_b[2];
    float sums[4] = {0, 0, 0, 0};
    load_a(a, lane_of_a, of_a);
    load_b(b, lane_of_b, of_b);
    multiply_matrices(T(), sums, sums + 2, of_a, of_b[0], of_b[1]);
    store(out, lane_of_sums, sums);
}

// This lane, except that lanes 5 and 6 are exchanged.
DAHL_DEVICE unsigned exchanged(unsigned lane) { return lane == 5 || lane == 6 ? 11 - lane : lane; }

DAHL_KERNEL(multiplies_fragments, types(T: f16 bf16), grid(1), block(32))
template <class T>
__global__ void multiplies_fragments(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    multiply(a, b, out, threadIdx.x, threadIdx.x, threadIdx.x);
}

DAHL_KERNEL(exchanges_lanes_of_a, types(T: f16 bf16), grid(1), block(32))
template <class T>
__global__ void exchanges_lanes_of_a(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    multiply(a, b, out, exchanged(threadIdx.x), threadIdx.x, threadIdx.x);
}

DAHL_KERNEL(exchanges_lanes_of_b, types(T: f16 bf16), grid(1), block(32))
template <class T>
__global__ void exchanges_lanes_of_b(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    multiply(a, b, out, threadIdx.x, exchanged(threadIdx.x), threadIdx.x);
}

DAHL_KERNEL(exchanges_lanes_of_sums, types(T: f16 bf16), grid(1), block(32))
template <class T>
__global__ void exchanges_lanes_of_sums(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    multiply(a, b, out, threadIdx.x, threadIdx.x, exchanged(threadIdx.x));
}

// The fragments are loaded from shared memory by `ldmatrix`: of `a` from its rows, of `b` from its transposed rows.
DAHL_KERNEL(loads_fragments, types(T: f16 bf16), grid(1), block(32))
template <class T>
__global__ void loads_fragments(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    alignas(16) __shared__ T rows_of_a[16][16], rows_of_b[16][8];
    unsigned lane = threadIdx.x;
    for (unsigned i = lane; i < 16 * 16; i += 32) rows_of_a[i / 16][i % 16] = a.at(i / 16, i % 16);
    for (unsigned i = lane; i < 16 * 8; i += 32) rows_of_b[i / 8][i % 8] = b.at(i / 8, i % 8);
    __syncwarp();
    Halves of_a[4], of_b[4];
    load_matrices(of_a, shared_address(&rows_of_a[lane % 16][lane / 16 * 8]), false);
    load_matrices(of_b, shared_address(rows_of_b[lane % 16]), true); // the last two matrices are the first two again
    float sums[4] = {0, 0, 0, 0};
    multiply_matrices(T(), sums, sums + 2, of_a, of_b[0], of_b[1]);
    store(out, lane, sums);
}

// A part of a warp multiplies, which no device does.
DAHL_KERNEL(multiplies_with_half_a_warp, types(T: f16), grid(1), block(16))
template <class T>
__global__ void multiplies_with_half_a_warp(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    multiply(a, b, out, threadIdx.x, threadIdx.x, threadIdx.x);
}
