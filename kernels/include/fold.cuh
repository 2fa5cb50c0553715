// Folding many elements into few: sums, products, extremes, and everything else that is made of parts.
//
// What is folded into is an accumulator, a plain struct of at most 32 bytes, a multiple of 4, without constructors:
//
//     static A identity();           // of nothing
//     void merge(const A &later);    // with what was folded from later elements
//
// Every fold has one order, given by the shapes and the launch alone: each thread takes every so many-th element, and
// what the threads have is merged as a tree. So the bits are the same each time. No atomics: floats added in the order
// in which threads come would differ from run to run. The tree also keeps the rounding error small: it grows with the
// elements of one thread and the logarithm of the threads (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr unsigned WARP_THREADS = 32;
// Of blocks that fold: block(256), or block(32, 8) where warps do different things.
constexpr unsigned FOLD_THREADS = 256;
constexpr unsigned FOLD_WARPS = FOLD_THREADS / WARP_THREADS;
// Elements that a block of `fold_parts` gets at least: 8 for each thread.
constexpr unsigned PART = 2048;

// Each word of a value, exchanged in a warp.
template <class A, class Exchange> DAHL_DEVICE A shuffled(const A &value, Exchange exchange) {
    static_assert(sizeof(A) % 4 == 0, "a shuffle moves words of 4 bytes");
    uint32_t words[sizeof(A) / 4];
    memcpy(words, &value, sizeof(A));
#pragma unroll
    for (unsigned word = 0; word < sizeof(A) / 4; word++) words[word] = exchange(words[word]);
    A result;
    memcpy(&result, words, sizeof(A));
    return result;
}

// The value of the thread `delta` lanes on.
template <class A> DAHL_DEVICE A shuffle_down(const A &value, unsigned delta) {
    return shuffled(value, [=](uint32_t word) { return __shfl_down_sync(~0u, word, delta); });
}

// The value of the warp's first thread.
template <class A> DAHL_DEVICE A from_first(const A &value) {
    return shuffled(value, [](uint32_t word) { return __shfl_sync(~0u, word, 0); });
}

// Merges the accumulators of a warp; its first thread has the result.
template <class A> DAHL_DEVICE void fold_warp(A &accumulator) {
#pragma unroll
    for (unsigned delta = WARP_THREADS / 2; delta > 0; delta /= 2) accumulator.merge(shuffle_down(accumulator, delta));
}

// Merges the accumulators of a block of FOLD_THREADS; all of its threads have the result.
template <class A> DAHL_DEVICE A fold_block(A accumulator) {
    __shared__ A of_warps[FOLD_WARPS];
    unsigned thread = thread_in_block();
    fold_warp(accumulator);
    if (thread % WARP_THREADS == 0) of_warps[thread / WARP_THREADS] = accumulator;
    __syncthreads();
    A result = of_warps[0];
    for (unsigned warp = 1; warp < FOLD_WARPS; warp++) result.merge(of_warps[warp]);
    __syncthreads(); // before a later fold writes there
    return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Of a whole array, in two passes, since blocks cannot wait for each other: `fold_parts` leaves an accumulator for each
// block in the task's scratch memory, `fold_of_parts` in one block merges them.
//
//     DAHL_KERNEL(sum, types(T: real), scratch(32 * blocks(input.len(), 2048)),
//                 pass(sum_parts, grid(blocks(input.len(), 2048)), block(256)), pass(sum, grid(1), block(256)))

// Folds this block's share of `n` elements: `add(accumulator, i)` for each. Blocks of FOLD_THREADS, blocks(n, PART) of them.
template <class A, class Add> DAHL_DEVICE void fold_parts(size_t n, const Task &task, Add add) {
    static_assert(sizeof(A) <= 32, "scratch(32 * blocks(..)) is enough");
    A accumulator = A::identity();
    for (size_t i = first_index(); i < n; i += grid_threads()) add(accumulator, i);
    accumulator = fold_block(accumulator);
    if (threadIdx.x == 0) task.scratch_as<A>()[blockIdx.x] = accumulator;
}

// Merges what `fold_parts` left for `n` elements; all threads of the block have the result.
template <class A> DAHL_DEVICE A fold_of_parts(size_t n, const Task &task) {
    A accumulator = A::identity();
    size_t parts = blocks(n, PART);
    for (size_t part = threadIdx.x; part < parts; part += FOLD_THREADS) accumulator.merge(task.scratch_as<A>()[part]);
    return fold_block(accumulator);
}

// ---------------------------------------------------------------------------------------------------------------------
// Of each lane along an axis: grid(blocks(lanes, 8)), block(32, 8).
//
// Lanes are divided in one of three ways, which depend on shapes alone, so that neighbouring threads read neighbouring
// elements: if lanes lie side by side (`after` is large), a warp takes 32 of them and its threads go down one each; if not,
// the threads of a warp go along one lane together, or those of a whole block, if lanes are long.

constexpr size_t LONG_LANE = 1024;

enum class Sharing { Beside, Warp, Block };

// What one thread has of a lane that several share: elements `first`, `first + step`, .. below `end`.
struct LaneShare {
    Sharing sharing;
    size_t first, step, end;
    // Whether this thread, of those that share the lane, stores what is found.
    bool leads;

    // Merges what the threads that share a lane have; all get the result. To be called by all threads.
    template <class A> DAHL_DEVICE A fold(A accumulator) const {
        if (sharing == Sharing::Block) return fold_block(accumulator);
        if (sharing == Sharing::Warp) {
            fold_warp(accumulator);
            return from_first(accumulator);
        }
        __shared__ A of_rows[FOLD_WARPS][WARP_THREADS];
        of_rows[threadIdx.y][threadIdx.x] = accumulator;
        __syncthreads();
        A result = of_rows[0][threadIdx.x];
        for (unsigned row = 1; row < FOLD_WARPS; row++) result.merge(of_rows[row][threadIdx.x]);
        __syncthreads(); // before a later fold writes there
        return result;
    }
};

// Calls `body(share, lane)` for each of `lanes` lanes of `extent` elements, in all threads that share it. Threads may be
// called with another's lane and an empty share, so that all of a block fold together.
template <class Body> DAHL_DEVICE void for_each_lane(size_t lanes, size_t extent, size_t after, Body body) {
    unsigned x = threadIdx.x, y = threadIdx.y;
    if (after >= WARP_THREADS / 2) {
        for (size_t first = size_t(blockIdx.x) * WARP_THREADS; first < lanes; first += size_t(gridDim.x) * WARP_THREADS) {
            bool has_lane = first + x < lanes;
            LaneShare share = {Sharing::Beside, y, FOLD_WARPS, has_lane ? extent : 0, has_lane && y == 0};
            body(share, has_lane ? first + x : first);
        }
    } else if (extent >= LONG_LANE) {
        unsigned thread = thread_in_block();
        for (size_t lane = blockIdx.x; lane < lanes; lane += gridDim.x) {
            body(LaneShare{Sharing::Block, thread, FOLD_THREADS, extent, thread == 0}, lane);
        }
    } else {
        size_t step = size_t(gridDim.x) * FOLD_WARPS;
        for (size_t lane = size_t(blockIdx.x) * FOLD_WARPS + y; lane < lanes; lane += step) {
            body(LaneShare{Sharing::Warp, x, WARP_THREADS, extent, x == 0}, lane);
        }
    }
}

// Folds each lane: `open(lane)` gives what `add(accumulator, opened, i)` takes for each element `i`; `store(lane, accumulator)` is
// called once a lane, by one thread.
template <class A, class Open, class Add, class Store>
DAHL_DEVICE void fold_lanes(size_t lanes, size_t extent, size_t after, Open open, Add add, Store store) {
    for_each_lane(lanes, extent, after, [&](const LaneShare &share, size_t lane) {
        A accumulator = A::identity();
        auto opened = open(lane);
        for (size_t i = share.first; i < share.end; i += share.step) add(accumulator, opened, i);
        accumulator = share.fold(accumulator);
        if (share.leads) store(lane, accumulator);
    });
}

// Folds the lanes of an array: `add(accumulator, element)`, `store(lane, accumulator)`.
template <class A, class T, class Add, class Store>
DAHL_DEVICE void fold_lanes(const Lanes<T> &lanes, Add add, Store store) {
    fold_lanes<A>(
        lanes.count(), lanes.extent, lanes.after, [&](size_t lane) { return lanes[lane]; },
        [&](A &accumulator, const Lane<T> &lane, size_t i) { add(accumulator, lane[i]); }, store);
}

// ---------------------------------------------------------------------------------------------------------------------
// Accumulators.

// A sum in the compute type `C`.
template <class C> struct Sum {
    C value;

    static DAHL_DEVICE Sum identity() { return {C(0)}; }
    DAHL_DEVICE void add(C term) { value += term; }
    DAHL_DEVICE void merge(const Sum &later) { value += later.value; }
};

// The largest (`sign` 1) or smallest (`sign` -1) of elements of type `T`; NaN if one is NaN. A word for types of fewer bits.
template <class T, int sign> struct Extreme {
    union {
        T value;
        uint32_t word;
    };

    static DAHL_DEVICE Extreme of(T value) {
        Extreme extreme;
        extreme.word = 0;
        extreme.value = value;
        return extreme;
    }
    static DAHL_DEVICE Extreme identity() { return of(sign > 0 ? Limits<T>::lowest() : Limits<T>::highest()); }
    DAHL_DEVICE void add(T other) { value = sign > 0 ? maximum(value, other) : minimum(value, other); }
    DAHL_DEVICE void merge(const Extreme &later) { add(later.value); }
};

} // namespace dahl
