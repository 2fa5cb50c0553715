// Folds of each lane of an array (its elements along one axis): which threads share a lane, and into which parts lanes
// are split where they are few and long. Accumulators, and how a thread reads its share, are as for a whole array
// (`fold.cuh`).
#pragma once

#include "chunk.cuh"
#include "fold.cuh"

namespace dahl {

// A row of a matrix, as a lane.
template <class T> DAHL_DEVICE Lane<T> row_of(const View<T, 2> &matrix, size_t row) {
    return {matrix.data + int64_t(row) * matrix.strides[0], matrix.extents[1], matrix.strides[1]};
}

// ---------------------------------------------------------------------------------------------------------------------
// Folds of each lane along an axis: grid(blocks(lanes, 8)), block(32, 8).
//
// Lanes are divided in one of three ways, which depend on shapes alone, so that neighbouring threads read neighbouring
// elements: if lanes are adjacent in memory (`after` is large), each thread of a warp goes down one of 32 lanes; if
// not, the threads of a warp, or of a whole block if lanes are long, go along one lane together.

constexpr size_t LONG_LANE = 1024;

enum class Sharing { Beside, Warp, Block };

// One thread's share of a lane: elements `first`, `first + step`, .. below `end`.
struct LaneShare {
    Sharing sharing;
    size_t first, step, end;
    // Whether this thread, of those that share the lane, stores the result.
    bool leads;

    // Merges the accumulators of the threads that share a lane; all get the result. All threads must call it.
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

// Calls `body(share, lane)` for each of `lanes` lanes of `extent` elements, in all threads that share it. Threads
// without a lane are called with another lane and an empty share, so that all threads of a block fold together.
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

// Folds each lane: calls `add(accumulator, opened, i)` for each element `i`, where `opened` is the result of
// `open(lane)`; one thread of each lane calls `store(lane, accumulator)`.
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

// ---------------------------------------------------------------------------------------------------------------------
// Folds of each lane of an array, in two passes. Where lanes are few and long, each is split into parts for several
// blocks: the first pass leaves an accumulator for each part in scratch memory, and the last merges them. Otherwise the
// first pass does everything, and the last is not launched if there are too many lanes or too few elements to split
// any.
//
//     DAHL_KERNEL(sum_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
//                 pass(sum_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
//                 pass(sum_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))

enum class Pass { Parts, Last };

// How lanes are divided among warps or blocks, and split into parts.
struct Cut {
    Sharing sharing;
    // The number of parts of each lane, and the most elements of a part.
    size_t parts, each;

    // `neighbours` is the number of adjacent lanes that one thread takes.
    DAHL_DEVICE Cut(size_t lanes, size_t extent, size_t after, unsigned neighbours) : sharing(Sharing::Warp), parts(1), each(extent) {
        size_t groups = lanes, most = 1, least = 4096;
        if (after >= WARP_THREADS / 2) {
            sharing = Sharing::Beside;
            groups = ceil_div(lanes, WARP_THREADS * neighbours), most = 256, least = 128;
        } else if (extent >= 8 * LONG_LANE || (extent >= LONG_LANE && lanes < 2 * MAX_BLOCKS)) {
            sharing = Sharing::Block;
            most = 512;
        }
        if (lanes == 0 || lanes >= 16384 || lanes * extent < 65536) return;
        size_t wanted = divide(most, groups).quotient, possible = extent / least;
        parts = wanted < possible ? wanted : possible;
        if (parts == 0) parts = 1;
        // Parts begin at multiples of 16 bytes if the lane does.
        if (parts > 1) each = ceil_div(ceil_div(extent, parts), sizeof(Chunk)) * sizeof(Chunk);
    }

    DAHL_DEVICE size_t begin(size_t part, size_t extent) const { return part * each < extent ? part * each : extent; }
    DAHL_DEVICE size_t end(size_t part, size_t extent) const { return begin(part + 1, extent); }
};

// Stores the result of the first pass for a part.
template <class A, class Store>
DAHL_DEVICE void store_part(const Cut &cut, size_t lane, size_t part, A &accumulator, const Scratch &scratch, Store &store) {
    if (cut.parts == 1) {
        store(lane, accumulator);
    } else {
        scratch.as<A>()[lane * cut.parts + part] = accumulator;
    }
}

// The number of rows that a thread has in flight before it folds their elements, where threads go down adjacent lanes.
constexpr unsigned ROWS_AHEAD = 8;

// Adjacent lanes: a thread goes down `N` neighbouring ones, and the warps of a block share the elements of each.
template <class A, unsigned N, class T, class From, class Add, class Store>
DAHL_DEVICE void fold_beside(const From &lanes, const Cut &cut, const Scratch &scratch, Add &add, Store &store) {
    __shared__ A of_rows[FOLD_WARPS][N][WARP_THREADS];
    constexpr unsigned GROUP = WARP_THREADS * N;
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t count = lanes.count(), groups = ceil_div(count, GROUP);
    for (size_t item = blockIdx.x; item < groups * cut.parts; item += gridDim.x) {
        Division at = divide(item, groups);
        size_t part = at.quotient, first = at.remainder * GROUP, end = cut.end(part, lanes.extent);
        A accumulators[N];
#pragma unroll
        for (unsigned i = 0; i < N; i++) accumulators[i] = A::identity();
        if (first + x * N < count) {
            auto lane = lanes.read(first + x * N);
#pragma unroll 1
            for (size_t row = cut.begin(part, lanes.extent) + y; row < end; row += ROWS_AHEAD * FOLD_WARPS) {
                T ahead[ROWS_AHEAD][N];
                unsigned left = up_to_32_bits(end - row);
#pragma unroll
                for (unsigned slot = 0; slot < ROWS_AHEAD; slot++) {
                    if (slot * FOLD_WARPS >= left) continue;
                    size_t i = row + slot * FOLD_WARPS;
                    if constexpr (N == EACH<T>) {
                        load_chunk(lane.chunk(i), ahead[slot]);
                    } else {
                        ahead[slot][0] = lane[i];
                    }
                }
#pragma unroll
                for (unsigned slot = 0; slot < ROWS_AHEAD; slot++) {
                    if (slot * FOLD_WARPS >= left) continue;
#pragma unroll
                    for (unsigned i = 0; i < N; i++) add(accumulators[i], ahead[slot][i]);
                }
            }
        }
#pragma unroll
        for (unsigned i = 0; i < N; i++) of_rows[y][i][x] = accumulators[i];
        __syncthreads();
        for (size_t i = thread_in_block(); i < GROUP && first + i < count; i += FOLD_THREADS) {
            A result = of_rows[0][i % N][i / N];
            for (unsigned row = 1; row < FOLD_WARPS; row++) result.merge(of_rows[row][i % N][i / N]);
            store_part(cut, first + i, part, result, scratch, store);
        }
        __syncthreads(); // before the next ones are written there
    }
}

// Lanes that are not adjacent: the threads of a warp or of a block go along each.
template <class A, unsigned N, class T, class From, class Add, class Store>
DAHL_DEVICE void fold_along(const From &lanes, const Cut &cut, const Scratch &scratch, Add &add, Store &store) {
    bool is_block = cut.sharing == Sharing::Block;
    size_t each_block = is_block ? 1 : FOLD_WARPS, items = lanes.count() * cut.parts;
    unsigned thread = is_block ? thread_in_block() : threadIdx.x, threads = is_block ? FOLD_THREADS : WARP_THREADS;
    for (size_t item = blockIdx.x * each_block + (is_block ? 0 : threadIdx.y); item < items; item += gridDim.x * each_block) {
        Division at = divide(item, cut.parts);
        size_t lane = at.quotient, part = at.remainder;
        auto from = lanes.read(lane);
        A accumulator = A::identity();
        fold_share<N>(accumulator, cut.begin(part, lanes.extent), cut.end(part, lanes.extent), thread, threads, add,
                      Reader<T, N, decltype(from)>(from));
        if (is_block) {
            accumulator = fold_block(accumulator);
        } else {
            fold_warp(accumulator);
        }
        if (thread == 0) store_part(cut, lane, part, accumulator, scratch, store);
    }
}

// A lane as a source for `fold_share`.
template <class T> struct ReadLane {
    static constexpr bool in_line = true;
    Lane<const T> lane;
    bool at_once;

    explicit DAHL_DEVICE ReadLane(const Lane<const T> &lane) : lane(lane), at_once(lane.stride == 1 && is_of_chunk(lane.first)) {}

    DAHL_DEVICE T operator[](size_t i) const { return lane[i]; }
    DAHL_DEVICE T line(size_t i) const { return lane[i]; }
    DAHL_DEVICE const T *chunk(size_t i) const { return &lane[i]; }
};

// The lanes of an array, as `fold_lanes` takes them.
template <class T> struct ReadLanes {
    const Lanes<const T> &lanes;
    size_t extent, after;

    explicit DAHL_DEVICE ReadLanes(const Lanes<const T> &lanes) : lanes(lanes), extent(lanes.extent), after(lanes.after) {}

    DAHL_DEVICE size_t count() const { return lanes.count(); }
    DAHL_DEVICE ReadLane<T> read(size_t lane) const { return ReadLane<T>(lanes[lane]); }
    // Whether each 16 bytes hold elements of `EACH<T>` adjacent lanes, beginning with a lane whose number is a multiple
    // of that.
    DAHL_DEVICE bool are_in_chunks() const { return lanes.contiguous && after % EACH<T> == 0 && is_of_chunk(lanes.view.data); }
};

// Folds each lane of `lanes`, `ReadLanes` or a type with the same members: calls `add(accumulator, element)`; one
// thread of each lane calls `store(lane, accumulator)`.
template <class A, Pass pass, class T, class From, class Add, class Store>
DAHL_DEVICE void fold_lanes_of(const From &lanes, const Scratch &scratch, Add add, Store store) {
    static_assert(sizeof(A) <= 32, "the scratch memory is enough");
    // The accumulators of neighbouring lanes, which threads exchange, must fit in shared memory.
    constexpr unsigned NEIGHBOURS = EACH<T> * sizeof(A) <= 128 ? EACH<T> : 1;
    Cut cut(lanes.count(), lanes.extent, lanes.after, EACH<T>);
    if constexpr (pass == Pass::Last) {
        if (cut.parts == 1) return;
        size_t step = size_t(gridDim.x) * FOLD_WARPS;
        for (size_t lane = size_t(blockIdx.x) * FOLD_WARPS + threadIdx.y; lane < lanes.count(); lane += step) {
            A accumulator = A::identity();
            const A *parts = scratch.as<A>() + lane * cut.parts;
            for (size_t part = threadIdx.x; part < cut.parts; part += WARP_THREADS) accumulator.merge(parts[part]);
            fold_warp(accumulator);
            if (threadIdx.x == 0) store(lane, accumulator);
        }
    } else if (cut.sharing == Sharing::Beside) {
        if (NEIGHBOURS > 1 && lanes.are_in_chunks()) {
            fold_beside<A, NEIGHBOURS, T>(lanes, cut, scratch, add, store);
        } else {
            fold_beside<A, 1, T>(lanes, cut, scratch, add, store);
        }
    } else if (cut.sharing == Sharing::Block || lanes.extent >= EACH<T> * WARP_THREADS) {
        fold_along<A, EACH<T>, T>(lanes, cut, scratch, add, store);
    } else {
        fold_along<A, 1, T>(lanes, cut, scratch, add, store);
    }
}

template <class A, Pass pass, class T, class Add, class Store>
DAHL_DEVICE void fold_lanes(const Lanes<const T> &lanes, const Scratch &scratch, Add add, Store store) {
    fold_lanes_of<A, pass, T>(ReadLanes<T>(lanes), scratch, add, store);
}

} // namespace dahl
