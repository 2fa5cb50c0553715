// Rows that belong together, in no particular order: the sum of each segment, and the softmax over each.
//
//     segment_sum:               out[s, ..] = sum of input[i, ..] over the rows i of segment s
//     segment_softmax:           out[i, ..] = exp(input[i, ..] - largest of its segment) / sum of these over the segment
//     segment_softmax_backward:  out[i, ..] = output[i, ..] * (gradient[i, ..] - sum of output * gradient over the segment)
//
// Atomic additions would happen in any order and give different bits in each run. So a warp owns a segment, and 32 columns of
// it, one for each thread: it reads the numbers of all rows, 32 at a time, and a ballot tells which of them are its own. These
// it folds, in their order, and neighbouring threads read neighbouring elements. So each row of the input is read once for
// each fold, but the numbers once for each segment: that is worth it as long as segments have some rows (a warp skips 32
// rows of others by one instruction), and costs more than the sums for very many segments of one row.
//
// For the softmax, the largest element and the sum of each segment, or the sum of products, stay in scratch memory,
// [segment, column], and a second pass computes the rows from them, one element in each thread. A segment that is none fails
// the task.
#include "compensated.cuh"
#include "fold.cuh"

using namespace dahl;

// The rows of an array, `[rows, width]`.
template <class T> struct Rows {
    Elements<T> elements;
    size_t width;

    explicit DAHL_DEVICE Rows(const View<T, ANY> &view) : elements(view), width(view.extents_product(1, view.rank())) {}
    DAHL_DEVICE T &at(size_t row, size_t column) const { return elements[row * width + column]; }
};

// Makes the task fail if a segment is none of `count`.
DAHL_DEVICE void check_segments(const View<const uint32_t, 1> &segments, size_t count, const Task &task) {
    size_t threads = size_t(gridDim.x) * FOLD_THREADS;
    for (size_t row = size_t(blockIdx.x) * FOLD_THREADS + thread_in_block(); row < segments.extent(0); row += threads) {
        if (segments.at(row) >= count) task.fail(row);
    }
}

// Calls `body(segment, column, is_column)` for each segment and group of 32 columns, in all threads of a warp. For block(32, 8).
template <class Body> DAHL_DEVICE void for_each_segment(size_t count, size_t width, Body body) {
    size_t groups = ceil_div(width, WARP_THREADS), warps = size_t(gridDim.x) * FOLD_WARPS;
    for (size_t item = size_t(blockIdx.x) * FOLD_WARPS + threadIdx.y; item < count * groups; item += warps) {
        Division at = divide(item, groups);
        size_t column = at.remainder * WARP_THREADS + threadIdx.x;
        body(at.quotient, column, column < width);
    }
}

// Calls `body(row)` for each row of a segment, in order, in all threads of a warp.
template <class Body> DAHL_DEVICE void for_each_row(const View<const uint32_t, 1> &segments, size_t segment, Body body) {
    for (size_t first = 0; first < segments.extent(0); first += WARP_THREADS) {
        size_t row = first + threadIdx.x;
        unsigned own = __ballot_sync(~0u, row < segments.extent(0) && segments.at(row) == segment);
        for (unsigned lane = 0; own != 0; lane++, own >>= 1) {
            if (own & 1) body(first + lane);
        }
    }
}

DAHL_KERNEL(segment_sum, types(T: real), grid(blocks(count * (out.len() / max(out.extent(0), 1) / 32 + 1), 8)), block(32, 8))
template <class T>
__global__ void segment_sum(View<const T, ANY> input, View<const uint32_t, 1> segments, View<T, ANY> out, size_t count, Task task) {
    check_segments(segments, count, task);
    Rows<const T> rows(input);
    Rows<T> sums(out);
    for_each_segment(count, rows.width, [&](size_t segment, size_t column, bool is_column) {
        auto sum = Compensated<compute_t<T>>::identity();
        for_each_row(segments, segment, [&](size_t row) {
            if (is_column) sum.add(widen(rows.at(row, column)));
        });
        if (is_column) sums.at(segment, column) = narrow<T>(sum.value());
    });
}

// What is known of a column of a segment.
template <class C> struct Softmax {
    C largest, sum;
};

template <class T>
__global__ void segment_softmax_sums(View<const T, ANY> input, View<const uint32_t, 1> segments, View<T, ANY> out, size_t count, Task task) {
    using C = compute_t<T>;
    if (segments.extent(0) == 0) return; // no element needs the sums, and they have no scratch memory
    check_segments(segments, count, task);
    Rows<const T> rows(input);
    for_each_segment(count, rows.width, [&](size_t segment, size_t column, bool is_column) {
        C largest = Limits<C>::lowest(), sum = 0;
        for_each_row(segments, segment, [&](size_t row) {
            if (is_column) largest = maximum(largest, widen(rows.at(row, column)));
        });
        for_each_row(segments, segment, [&](size_t row) {
            if (is_column) sum += exp(widen(rows.at(row, column)) - largest);
        });
        if (is_column) task.scratch_as<Softmax<C>>()[segment * rows.width + column] = {largest, sum};
    });
}

DAHL_KERNEL(segment_softmax, types(T: real),
            scratch(2 * sizeof(compute_t<T>) * count * (input.len() / max(input.extent(0), 1))),
            pass(segment_softmax_sums, grid(blocks(count * (input.len() / max(input.extent(0), 1) / 32 + 1), 8)), block(32, 8)),
            pass(segment_softmax, grid(blocks(out.len(), 256)), block(256)))
template <class T>
__global__ void segment_softmax(View<const T, ANY> input, View<const uint32_t, 1> segments, View<T, ANY> out, size_t count, Task task) {
    using C = compute_t<T>;
    Rows<const T> rows(input);
    Rows<T> results(out);
    for (size_t i = first_index(); i < results.elements.len; i += grid_threads()) {
        Division place = divide(i, rows.width);
        uint32_t segment = segments.at(place.quotient);
        if (segment >= count) continue;
        auto of = task.scratch_as<Softmax<C>>()[segment * rows.width + place.remainder];
        results.elements[i] = narrow<T>(exp(widen(rows.elements[i]) - of.largest) / of.sum);
    }
}

template <class T>
__global__ void segment_softmax_backward_sums(View<const T, ANY> output, View<const T, ANY> gradient, View<const uint32_t, 1> segments,
                                              View<T, ANY> out, size_t count, Task task) {
    using C = compute_t<T>;
    if (segments.extent(0) == 0) return; // no element needs the sums, and they have no scratch memory
    check_segments(segments, count, task);
    Rows<const T> outputs(output), gradients(gradient);
    for_each_segment(count, outputs.width, [&](size_t segment, size_t column, bool is_column) {
        C sum = 0;
        for_each_row(segments, segment, [&](size_t row) {
            if (is_column) sum += widen(outputs.at(row, column)) * widen(gradients.at(row, column));
        });
        if (is_column) task.scratch_as<C>()[segment * outputs.width + column] = sum;
    });
}

DAHL_KERNEL(segment_softmax_backward, types(T: real),
            scratch(sizeof(compute_t<T>) * count * (output.len() / max(output.extent(0), 1))),
            pass(segment_softmax_backward_sums, grid(blocks(count * (output.len() / max(output.extent(0), 1) / 32 + 1), 8)), block(32, 8)),
            pass(segment_softmax_backward, grid(blocks(out.len(), 256)), block(256)))
template <class T>
__global__ void segment_softmax_backward(View<const T, ANY> output, View<const T, ANY> gradient, View<const uint32_t, 1> segments,
                                         View<T, ANY> out, size_t count, Task task) {
    using C = compute_t<T>;
    Rows<const T> outputs(output), gradients(gradient);
    Rows<T> results(out);
    for (size_t i = first_index(); i < results.elements.len; i += grid_threads()) {
        Division place = divide(i, outputs.width);
        uint32_t segment = segments.at(place.quotient);
        if (segment >= count) continue;
        C sum = task.scratch_as<C>()[segment * outputs.width + place.remainder];
        C value = widen(outputs.elements[i]), slope = widen(gradients.elements[i]), difference = slope - sum;
        // The difference may overflow where the products do not.
        results.elements[i] = narrow<T>(is_finite(difference) ? value * difference : value * slope - value * sum);
    }
}
