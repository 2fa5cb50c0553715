// Sums of the elements so far along an axis, and the gradient.
//
//     cumulative_sum:           out[i] = input[0] + .. + input[i]                 along axis
//     cumulative_sum_backward:  out[i] = gradient[i] + .. + gradient[extent - 1]  along axis
//
// If lanes are adjacent in memory, a thread goes down each: neighbouring threads read neighbouring elements, and the sum so
// far stays in a register. Otherwise a warp goes along each lane, 32 elements at a time: five steps of shuffles give each
// thread the sum of the elements up to its own (Hillis and Steele 1986, Data Parallel Algorithms), to which the sum of all
// earlier elements is added. Each element is read once and written once. Sums are compensated, however long the axis is.
#include "compensated.cuh"
#include "fold.cuh"

using namespace dahl;

// `place(i, extent)` is where step `i` is.
template <class T, class Place>
DAHL_DEVICE void sum_on_the_way(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, Place place) {
    using S = Compensated<compute_t<T>>;
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    size_t extent = from.extent, threads = size_t(gridDim.x) * FOLD_THREADS, warps = size_t(gridDim.x) * FOLD_WARPS;
    if (from.after >= WARP_THREADS / 2) {
        for (size_t number = size_t(blockIdx.x) * FOLD_THREADS + thread_in_block(); number < from.count(); number += threads) {
            Lane<const T> lane = from[number];
            Lane<T> results = to[number];
            S sum = S::identity();
            for (size_t i = 0; i < extent; i++) {
                sum.add(widen(lane[place(i, extent)]));
                results[place(i, extent)] = narrow<T>(sum.value());
            }
        }
        return;
    }
    unsigned thread = threadIdx.x;
    for (size_t number = size_t(blockIdx.x) * FOLD_WARPS + threadIdx.y; number < from.count(); number += warps) {
        Lane<const T> lane = from[number];
        Lane<T> results = to[number];
        S before = S::identity();
        for (size_t first = 0; first < extent; first += WARP_THREADS) {
            size_t i = first + thread;
            S own = S::identity();
            if (i < extent) own.add(widen(lane[place(i, extent)]));
#pragma unroll
            for (unsigned delta = 1; delta < WARP_THREADS; delta *= 2) {
                S earlier = shuffled(own, [=](uint32_t word) { return __shfl_up_sync(~0u, word, delta); });
                if (thread < delta) continue;
                earlier.merge(own);
                own = earlier;
            }
            S sum = before;
            sum.merge(own);
            if (i < extent) results[place(i, extent)] = narrow<T>(sum.value());
            before = shuffled(sum, [](uint32_t word) { return __shfl_sync(~0u, word, int(WARP_THREADS) - 1); });
        }
    }
}

DAHL_KERNEL(cumulative_sum, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T> __global__ void cumulative_sum(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    sum_on_the_way<T>(input, out, axis, [](size_t i, size_t) { return i; });
}

DAHL_KERNEL(cumulative_sum_backward, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T> __global__ void cumulative_sum_backward(View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    sum_on_the_way<T>(gradient, out, axis, [](size_t i, size_t extent) { return extent - 1 - i; });
}
