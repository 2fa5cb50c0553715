// Kernels with one mistake each, which the CPU must find: copies of `input` to `out`, and sums.
#include "dahl.cuh"

using namespace dahl;

constexpr unsigned THREADS = 64;

// Each element is passed to another thread through the shared memory of the block. Without a barrier, a thread that is
// early reads it before it is written.
DAHL_KERNEL(lacks_barrier, types(T: f32), grid(blocks(out.len(), 64)), block(64))
template <class T> __global__ void lacks_barrier(View<const T, ANY> input, View<T, ANY> out) {
    __shared__ T passed_on[THREADS];
    size_t i = first_index();
    unsigned other = THREADS - 1 - threadIdx.x;
    size_t of_other = size_t(blockIdx.x) * THREADS + other;
    if (of_other < out.len()) passed_on[other] = input.element(of_other);
    if (i < out.len()) out.element(i) = passed_on[threadIdx.x];
}

// The same with a barrier.
DAHL_KERNEL(has_barrier, types(T: f32), grid(blocks(out.len(), 64)), block(64))
template <class T> __global__ void has_barrier(View<const T, ANY> input, View<T, ANY> out) {
    __shared__ T passed_on[THREADS];
    size_t i = first_index();
    unsigned other = THREADS - 1 - threadIdx.x;
    size_t of_other = size_t(blockIdx.x) * THREADS + other;
    if (of_other < out.len()) passed_on[other] = input.element(of_other);
    __syncthreads();
    if (i < out.len()) out.element(i) = passed_on[threadIdx.x];
}

// A warp that is ahead writes the second number before another has read the first.
DAHL_KERNEL(lacks_last_barrier, types(T: f32), grid(1), block(64))
template <class T> __global__ void lacks_last_barrier(View<const T, ANY> input, View<T, ANY> out) {
    __shared__ T passed_on[THREADS];
    for (size_t first = 0; first < out.len(); first += THREADS) {
        size_t other = first + THREADS - 1 - threadIdx.x;
        if (other < out.len()) passed_on[THREADS - 1 - threadIdx.x] = input.element(other);
        __syncthreads();
        if (first + threadIdx.x < out.len()) out.element(first + threadIdx.x) = passed_on[threadIdx.x];
    }
}

// Half of the threads wait at one barrier, and the others at another.
DAHL_KERNEL(barriers_in_branches, types(T: f32), grid(1), block(64))
template <class T> __global__ void barriers_in_branches(View<const T, ANY> input, View<T, ANY> out) {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

// Threads without an element have ended when the others wait.
DAHL_KERNEL(ends_before_barrier, types(T: f32), grid(1), block(64))
template <class T> __global__ void ends_before_barrier(View<const T, ANY> input, View<T, ANY> out) {
    if (threadIdx.x >= out.len()) return;
    __syncthreads();
    out.element(threadIdx.x) = input.element(threadIdx.x);
}

// Not all threads of a warp take part in a shuffle.
DAHL_KERNEL(shuffle_of_some, types(T: f32), grid(1), block(32))
template <class T> __global__ void shuffle_of_some(View<const T, ANY> input, View<T, ANY> out) {
    if (threadIdx.x < 7) out.element(threadIdx.x) = __shfl_down_sync(~0u, input.element(threadIdx.x), 1);
}

DAHL_KERNEL(one_too_far, types(T: f32), grid(1), block(64))
template <class T> __global__ void one_too_far(View<const T, ANY> input, View<T, ANY> out) {
    for (size_t i = threadIdx.x; i <= out.len(); i += THREADS) out.element(i) = input.element(i);
}

// Floats are added in the order in which threads arrive.
DAHL_KERNEL(atomic_sum, types(T: f32), grid(1), block(64))
template <class T> __global__ void atomic_sum(View<const T, ANY> input, View<T, 0> out) {
    for (size_t i = threadIdx.x; i < input.len(); i += THREADS) atomicAdd(&out.at(), input.element(i));
}

// One block reads an element that another may or may not have written yet.
DAHL_KERNEL(reads_other_block, types(T: f32), grid(2), block(1))
template <class T> __global__ void reads_other_block(View<const T, ANY> input, View<T, ANY> out) {
    if (blockIdx.x == 0) {
        out.element(0) = input.element(0);
    } else {
        out.element(1) = out.element(0);
    }
}
