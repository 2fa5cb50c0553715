// Rows that are normalized, as by `layer_norm` and `rms_norm`: divided by their deviation from their mean, or from zero; and the gradients.
//
//     y[i] = (row[i] - centre) * r,   r = 1 / sqrt(mean of (row[j] - centre)^2 + epsilon)
//
// The threads that share a row (`lanes.cuh`: a warp, or a block if the row is long) keep their elements in registers, so
// each is read from memory once, although the statistics go over the row three times: for the mean, for the mean of what
// is left, and for the squares of what is left then (two passes over the differences: Chan, Golub and LeVeque 1983,
// Algorithms for Computing the Sample Variance). Of rows longer than `KEPT` elements a thread, what does not fit is read
// again, from the cache.
//
// Where the squares overflow, or lose digits to underflow, the row is divided by its largest magnitude first, as on the
// CPU. All threads of a row take that branch together: it depends on sums that all of them have.
#pragma once

#include "lanes.cuh"

namespace dahl {

// What the elements of a row are measured from.
enum class Centre { Mean, Zero };

// The elements that a thread keeps of each row: 64 bytes of registers.
template <class C> constexpr unsigned KEPT = 64 / sizeof(C);

// What turns an element into its normalized value: `((x / unit - mean) - rest) * scale`.
template <class C> struct RowStatistics {
    C unit, mean, rest, scale;

    DAHL_DEVICE C in_units(C x) const { return unit == C(1) ? x : x / unit; }
    // Of elements that were divided by `unit`.
    DAHL_DEVICE C centred(C x) const { return x - mean - rest; }
    DAHL_DEVICE C normalized(C x) const { return centred(x) * scale; }
    // The derivative of a normalized value by its element, apart from the terms of the statistics.
    DAHL_DEVICE C inverse() const { return scale / unit; }
};

// A thread's share of a row, divided by `statistics.unit`.
template <class T> struct RowShare {
    using C = compute_t<T>;
    const LaneShare &share;
    Lane<const T> lane;
    RowStatistics<C> statistics;
    C kept[KEPT<C>];
    unsigned count; // of elements that are kept

    DAHL_DEVICE RowShare(const LaneShare &share, const Lane<const T> &lane)
        : share(share), lane(lane), statistics{C(1), C(0), C(0), C(0)},
          count(share.first < share.end ? up_to_32_bits(ceil_div(share.end - share.first, share.step)) : 0) {
#pragma unroll
        for (unsigned k = 0; k < KEPT<C>; k++) {
            if (k < count) kept[k] = widen(lane[share.first + k * share.step]);
        }
    }

    // Calls `f(i, element)` for each element of this thread.
    template <class F> DAHL_DEVICE void each(F f) const {
#pragma unroll
        for (unsigned k = 0; k < KEPT<C>; k++) {
            if (k < count) f(share.first + k * share.step, kept[k]);
        }
#pragma unroll 1
        for (size_t i = share.first + KEPT<C> * share.step; i < share.end; i += share.step) f(i, statistics.in_units(widen(lane[i])));
    }

    // The sum of `f(i, element)` over the whole row, for all threads that share it.
    template <class F> DAHL_DEVICE C sum(F f) const {
        auto sum = Sum<C>::identity();
        each([&](size_t i, C element) { sum.add(f(i, element)); });
        return share.fold(sum).value;
    }

    // Computes the statistics.
    template <Centre centre> DAHL_DEVICE void measure(double epsilon) {
        C length = C(lane.len), least = Limits<C>::min_positive() * length;
        RowStatistics<C> &of = statistics;
#pragma unroll 1
        for (unsigned attempt = 0;; attempt++) {
            of.mean = of.rest = C(0);
            if (centre == Centre::Mean) {
                of.mean = sum([&](size_t, C x) { return x; }) / length;
                of.rest = sum([&](size_t, C x) { return of.centred(x); }) / length;
            }
            C squares = sum([&](size_t, C x) { return of.centred(x) * of.centred(x); }) / length;
            squares += attempt == 0 ? C(epsilon) : C(epsilon) / of.unit / of.unit;
            of.scale = C(1) / sqrt(squares);
            if (attempt > 0 || (is_finite(squares) && squares >= least)) return;
            auto largest = Extreme<C, 1>::of(C(0));
            each([&](size_t, C x) { largest.add(fabs(x)); });
            C magnitude = share.fold(largest).value;
            if (magnitude == C(0)) return;
            of.unit = magnitude;
#pragma unroll
            for (unsigned k = 0; k < KEPT<C>; k++) {
                if (k < count) kept[k] /= magnitude;
            }
        }
    }
};

// Calls `body(share, row)` for each row, in all threads that share it: a warp, or a block if the row is long. For
// grid(blocks(rows, 8)), block(32, 8).
template <class Body> DAHL_DEVICE void for_each_row(size_t rows, size_t extent, Body body) {
    bool is_block = extent >= LONG_LANE;
    unsigned thread = is_block ? thread_in_block() : threadIdx.x, rows_of_block = is_block ? 1 : FOLD_WARPS;
    LaneShare share = {is_block ? Sharing::Block : Sharing::Warp, thread, is_block ? FOLD_THREADS : WARP_THREADS, extent, thread == 0};
    size_t first = size_t(blockIdx.x) * rows_of_block + (is_block ? 0 : threadIdx.y);
    for (size_t row = first; row < rows; row += size_t(gridDim.x) * rows_of_block) body(share, row);
}

// `out = y * weight + bias`. For grid(blocks(rows, 8)), block(32, 8).
template <Centre centre, class T, class Result>
DAHL_DEVICE void normalize_rows(const View<const T, ANY> &input, const View<T, ANY> &out, double epsilon, Result result) {
    using C = compute_t<T>;
    Lanes<const T> from(input, input.rank() - 1);
    Lanes<T> to(out, out.rank() - 1);
    for_each_row(from.count(), from.extent, [&](const LaneShare &share, size_t number) {
        Lane<T> results = to[number];
        RowShare<T> row(share, from[number]);
        row.template measure<centre>(epsilon);
        row.each([&](size_t i, C x) { results[i] = narrow<T>(result(i, row.statistics.normalized(x))); });
    });
}

// The gradient by the input: with `g = gradient * weight`, `out = (g - mean of g - y * mean of (g * y)) * r`; around zero
// without the mean of `g`. The gradient is read from memory once, and then from the cache. For grid(blocks(rows, 8)),
// block(32, 8).
template <Centre centre, class T>
DAHL_DEVICE void normalize_rows_backward(const View<const T, ANY> &input, const View<const T, 1> &weight, const View<const T, ANY> &gradient,
                                         const View<T, ANY> &out, double epsilon) {
    using C = compute_t<T>;
    Lanes<const T> from(input, input.rank() - 1), gradients(gradient, gradient.rank() - 1);
    Lanes<T> to(out, out.rank() - 1);
    for_each_row(from.count(), from.extent, [&](const LaneShare &share, size_t number) {
        Lane<T> results = to[number];
        Lane<const T> by_result = gradients[number];
        RowShare<T> row(share, from[number]);
        row.template measure<centre>(epsilon);
        const RowStatistics<C> &of = row.statistics;
        auto g = [&](size_t i) { return widen(by_result[i]) * widen(weight.at(i)); };
        C count = C(from.extent);
        C mean = centre == Centre::Mean ? row.sum([&](size_t i, C) { return g(i); }) / count : C(0);
        C along = row.sum([&](size_t i, C x) { return g(i) * of.normalized(x); }) / count;
        row.each([&](size_t i, C x) { results[i] = narrow<T>((g(i) - mean - of.normalized(x) * along) * of.inverse()); });
    });
}

// ---------------------------------------------------------------------------------------------------------------------
// The gradient by the weight: `out[i] += sum over rows of gradient[row, i] * y[row, i]`, in three passes. The first
// leaves the statistics of each row in scratch memory. In the second, each block goes down `COLUMNS` adjacent columns of
// one part of the rows, as a warp for each row, and leaves the sums of its part. The third adds the parts in order. So
// both arrays are read once, and the input once more for its statistics.

// The columns of a block, and the blocks to aim at: two for each multiprocessor.
constexpr unsigned COLUMNS = WARP_THREADS;
constexpr uint64_t ROW_PART_BLOCKS = 264;
// The fewest rows of a part: 8 for each warp.
constexpr uint64_t ROW_PART = 64;

// Into how many parts the rows are divided. The kernels' `let(parts = ..)` is the same formula.
DAHL_DEVICE uint64_t row_parts(uint64_t rows, uint64_t columns) {
    uint64_t parts = ROW_PART_BLOCKS / blocks(columns, COLUMNS), most = rows / ROW_PART;
    parts = parts < most ? parts : most;
    return parts > 1 ? parts : 1;
}

// The first pass. For grid(blocks(rows, 8)), block(32, 8).
template <Centre centre, class T>
DAHL_DEVICE void leave_row_statistics(const View<const T, ANY> &input, double epsilon, const Scratch &scratch) {
    Lanes<const T> from(input, input.rank() - 1);
    if (from.extent == 0) return; // there is no scratch memory for rows without elements
    for_each_row(from.count(), from.extent, [&](const LaneShare &share, size_t number) {
        RowShare<T> row(share, from[number]);
        row.template measure<centre>(epsilon);
        if (share.leads) scratch.as<RowStatistics<compute_t<T>>>()[number] = row.statistics;
    });
}

// The second pass. For grid(blocks(columns, 32), row_parts), block(32, 8).
template <class T>
DAHL_DEVICE void leave_weight_parts(const View<const T, ANY> &input, const View<const T, ANY> &gradient, const Scratch &scratch) {
    using C = compute_t<T>;
    __shared__ C of_warps[FOLD_WARPS][COLUMNS];
    Lanes<const T> from(input, input.rank() - 1), gradients(gradient, gradient.rank() - 1);
    size_t rows = from.count(), columns = from.extent, each = ceil_div(rows, gridDim.y), first = blockIdx.y * each;
    size_t end = first + each < rows ? first + each : rows;
    const auto *statistics = scratch.as<RowStatistics<C>>();
    C *parts = reinterpret_cast<C *>(scratch.as<RowStatistics<C>>() + rows) + blockIdx.y * columns;
    for (size_t start = size_t(blockIdx.x) * COLUMNS; start < columns; start += size_t(gridDim.x) * COLUMNS) {
        size_t column = start + threadIdx.x;
        C sum = 0;
        if (column < columns) {
            for (size_t row = first + threadIdx.y; row < end; row += FOLD_WARPS) {
                const RowStatistics<C> &of = statistics[row];
                sum += widen(gradients[row][column]) * of.normalized(of.in_units(widen(from[row][column])));
            }
        }
        of_warps[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();
        if (threadIdx.y == 0 && column < columns) {
            for (unsigned warp = 1; warp < FOLD_WARPS; warp++) sum += of_warps[warp][threadIdx.x];
            parts[column] = sum;
        }
        __syncthreads(); // before the sums of the next columns are written there
    }
}

// The third pass: adds the parts to `out`. For grid(blocks(columns, 256)), block(256).
template <class T> DAHL_DEVICE void add_weight_parts(const View<compute_t<T>, 1> &out, size_t rows, const Scratch &scratch) {
    using C = compute_t<T>;
    size_t columns = out.len(), count = row_parts(rows, columns);
    const C *parts = reinterpret_cast<const C *>(scratch.as<RowStatistics<C>>() + rows);
    for (size_t column = first_index(); column < columns; column += grid_threads()) {
        C sum = 0;
        for (size_t part = 0; part < count; part++) sum += parts[part * columns + column];
        out.at(column) += sum;
    }
}

} // namespace dahl
