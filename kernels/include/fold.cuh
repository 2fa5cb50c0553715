// Folds of many elements into few: sums, products, extremes, and everything else that can be merged from parts.
//
// The accumulator of a fold is a plain struct of at most 32 bytes, a multiple of 4, without constructors:
//
//     static A identity();           // of no elements
//     void merge(const A &later);    // adds what was folded from later elements
//
// The order of every fold depends on the shapes and the launch alone: each thread takes elements (or groups of 16
// bytes) at a fixed step, and the accumulators of the threads are merged as a tree. The layout in memory decides only
// which loads are used: 16 bytes at a time if possible, and several loads in flight before their elements are folded.
// So the bits are the same in each run. There are no atomics: floats added in the order in which threads arrive would
// differ from run to run. The tree also keeps the rounding error small: it grows with the elements of one thread and
// the logarithm of the number of threads (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
//
// This file folds whole arrays; `lanes.cuh` folds each lane along an axis.
#pragma once

#include "chunk.cuh"

namespace dahl {

constexpr unsigned WARP_THREADS = 32;
// Threads of a block that folds: block(256), or block(32, 8) where warps do different things.
constexpr unsigned FOLD_THREADS = 256;
constexpr unsigned FOLD_WARPS = FOLD_THREADS / WARP_THREADS;
// The least number of elements for a block of `fold_parts`: 8 for each thread.
constexpr unsigned PART = 2048;

// Applies `exchange` to each 32-bit word of a value, to exchange it in a warp.
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

// The value of the thread `delta` positions later in the warp.
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
// Reading.

// The number of loads that a thread has in flight before it folds their elements, to hide the latency of memory.
constexpr unsigned AHEAD = 4;

// A count, saturated to 32 bits where larger values make no difference: comparisons with it take half the registers and
// instructions.
DAHL_DEVICE unsigned up_to_32_bits(size_t count) { return count >> 32 == 0 ? unsigned(count) : ~0u; }

// A whole array as a source for `fold_share`. Any type with these members is such a source.
template <class T> struct ReadArray {
    const Elements<const T> &elements;
    // Whether `chunk(start)` is 16 bytes that one load reads, for each `start` that is a multiple of `EACH<T>`.
    bool at_once;
    // Whether `line(i)` reads element `i` by so few instructions that the loop can be unrolled, with several loads in
    // flight.
    bool in_line;

    explicit DAHL_DEVICE ReadArray(const Elements<const T> &elements)
        : elements(elements), at_once(Chunk::fits(elements)), in_line(elements.contiguous) {}

    DAHL_DEVICE T operator[](size_t i) const { return elements[i]; }
    DAHL_DEVICE T line(size_t i) const { return elements.view.data[i]; }
    DAHL_DEVICE const T *chunk(size_t start) const { return elements.view.data + start; }
};

// A source with the elements that a thread has loaded from it.
template <class T, unsigned N, class From> struct Reader {
    static_assert(N == 1 || N == EACH<T>, "arrays that are read together have elements of one size");
    From from;
    // Loaded, and not yet folded.
    T ahead[AHEAD][N];

    explicit DAHL_DEVICE Reader(const From &from) : from(from) {}
    DAHL_DEVICE void load(unsigned slot, size_t start) {
        if constexpr (N == EACH<T>) load_chunk(from.chunk(start), ahead[slot]);
    }
};

// Folds the share of one of `threads` threads in the elements `begin..end`, in groups of `N` neighbours: calls
// `add(accumulator, element, ..)`, with an element of each reader's array.
template <unsigned N, class A, class Add, class... Readers>
DAHL_DEVICE void fold_share(A &accumulator, size_t begin, size_t end, unsigned thread, unsigned threads, Add &add, Readers... readers) {
    size_t count = (end - begin) / N;
    if (N > 1 && (readers.from.at_once && ...)) {
#pragma unroll 1
        for (size_t first = thread; first < count; first += AHEAD * threads) {
            unsigned left = up_to_32_bits(count - first);
#pragma unroll
            for (unsigned slot = 0; slot < AHEAD; slot++) {
                if (slot * threads < left) (readers.load(slot, begin + (first + slot * threads) * N), ...);
            }
#pragma unroll
            for (unsigned slot = 0; slot < AHEAD; slot++) {
                if (slot * threads >= left) continue;
#pragma unroll
                for (unsigned i = 0; i < N; i++) add(accumulator, readers.ahead[slot][i]...);
            }
        }
    } else if ((readers.from.in_line && ...)) {
        [[maybe_unused]] constexpr unsigned GROUPS = N == 1 ? AHEAD : 1;
#pragma unroll GROUPS
        for (size_t group = thread; group < count; group += threads) {
#pragma unroll
            for (unsigned i = 0; i < N; i++) add(accumulator, readers.from.line(begin + group * N + i)...);
        }
    } else {
#pragma unroll 1
        for (size_t group = thread; group < count; group += threads) {
#pragma unroll 1
            for (unsigned i = 0; i < N; i++) add(accumulator, readers.from[begin + group * N + i]...);
        }
    }
    size_t rest = begin + count * N + thread;
    if (N > 1 && rest < end) add(accumulator, readers.from[rest]...); // fewer than there are threads
}

// ---------------------------------------------------------------------------------------------------------------------
// Folds of a whole array, in two passes, since blocks cannot wait for each other: `fold_parts` leaves an accumulator
// for each block in the task's scratch memory, and `fold_of_parts` merges them in one block.
//
//     DAHL_KERNEL(sum, types(T: real), scratch(32 * blocks(input.len(), 2048)),
//                 pass(sum_parts, grid(blocks(input.len(), 2048)), block(256)), pass(sum, grid(1), block(256)))

// Leaves a block's accumulator in scratch memory for the next pass.
template <class A> DAHL_DEVICE void leave_part(A accumulator, const Scratch &scratch) {
    static_assert(sizeof(A) <= 32, "scratch(32 * blocks(..)) is enough");
    accumulator = fold_block(accumulator);
    if (threadIdx.x == 0) scratch.as<A>()[blockIdx.x] = accumulator;
}

// Folds this block's share of `n` elements: calls `add(accumulator, i)` for each. For blocks(n, PART) blocks of
// FOLD_THREADS.
template <class A, class Add> DAHL_DEVICE void fold_parts(size_t n, const Scratch &scratch, Add add) {
    A accumulator = A::identity();
    for (size_t i = first_index(); i < n; i += grid_threads()) add(accumulator, i);
    leave_part(accumulator, scratch);
}

// The same for arrays of one length: `add(accumulator, element, ..)`, with an element of each.
template <class A, class Add, class T, class... Others>
DAHL_DEVICE void fold_parts(const Scratch &scratch, Add add, const Elements<const T> &elements, const Elements<const Others> &...others) {
    A accumulator = A::identity();
    fold_share<EACH<T>>(accumulator, 0, elements.len, unsigned(first_index()), unsigned(grid_threads()), add,
                        Reader<T, EACH<T>, ReadArray<T>>(ReadArray<T>(elements)),
                        Reader<Others, EACH<T>, ReadArray<Others>>(ReadArray<Others>(others))...);
    leave_part(accumulator, scratch);
}

// Merges what `fold_parts` left for `n` elements; all threads of the block have the result.
template <class A> DAHL_DEVICE A fold_of_parts(size_t n, const Scratch &scratch) {
    A accumulator = A::identity();
    size_t parts = blocks(n, PART);
    for (size_t part = threadIdx.x; part < parts; part += FOLD_THREADS) accumulator.merge(scratch.as<A>()[part]);
    return fold_block(accumulator);
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

// The largest (`sign` 1) or smallest (`sign` -1) of elements of type `T`; NaN if one is NaN. Narrower types are kept in
// a word.
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
