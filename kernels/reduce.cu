// Sums, means and extremes, of everything or along an axis.
//
//     sum:       out += sum of input[i]                        input: any, out: []
//     mean:      out  = sum of input[i] / count
//     max, min:  out  = maximum(out, input[i]), and so on; NaN if one is NaN
//     .._axis:   the same along one axis, which stays with extent 1
//
// All read each element once and compute little, so they are limited by the bandwidth of reads. For a whole array, each
// block folds a share, and a second pass merges the results. Along an axis, the shape decides whether threads go along
// a lane or down adjacent lanes, and whether lanes are so few that each is split into parts, which a second pass merges
// (`include/fold.cuh`, `include/lanes.cuh`).
//
// Half-precision numbers are summed as float. If a sum overflows where the mean does not, it is computed again from
// elements divided by their number; one thread does so, since it is rare.
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

template <class T> __global__ void sum_parts(View<const T, ANY> input, View<compute_t<T>, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Sum<compute_t<T>>>(scratch, [](auto &sum, T element) { sum.add(widen(element)); }, elements);
}

DAHL_KERNEL(sum, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(sum_parts, grid(blocks(input.len(), 2048)), block(256)), pass(sum, grid(1), block(256)))
template <class T> __global__ void sum(View<const T, ANY> input, View<compute_t<T>, 0> out, Scratch scratch) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() += sum.value;
}

template <class T> __global__ void mean_parts(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Sum<compute_t<T>>>(scratch, [](auto &sum, T element) { sum.add(widen(element)); }, elements);
}

DAHL_KERNEL(mean, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(mean_parts, grid(blocks(input.len(), 2048)), block(256)), pass(mean, grid(1), block(256)))
template <class T> __global__ void mean(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    using C = compute_t<T>;
    C count = C(input.len()), mean = fold_of_parts<Sum<C>>(input.len(), scratch).value / count;
    if (!is_finite(mean)) {
        Elements<const T> elements(input);
        Sum<C> quotients = Sum<C>::identity();
        for (size_t i = threadIdx.x; i < elements.len; i += FOLD_THREADS) quotients.add(widen(elements[i]) / count);
        mean = input.len() == 0 ? Limits<C>::nan() : fold_block(quotients).value;
    }
    if (threadIdx.x == 0) out.at() = narrow<T>(mean);
}

template <class T> __global__ void max_parts(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Extreme<T, 1>>(scratch, [](auto &largest, T element) { largest.add(element); }, elements);
}

DAHL_KERNEL(max, types(T: element), scratch(32 * blocks(input.len(), 2048)),
            pass(max_parts, grid(blocks(input.len(), 2048)), block(256)), pass(max, grid(1), block(256)))
template <class T> __global__ void max(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    auto largest = fold_of_parts<Extreme<T, 1>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() = maximum(out.at(), largest.value);
}

template <class T> __global__ void min_parts(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Extreme<T, -1>>(scratch, [](auto &smallest, T element) { smallest.add(element); }, elements);
}

DAHL_KERNEL(min, types(T: element), scratch(32 * blocks(input.len(), 2048)),
            pass(min_parts, grid(blocks(input.len(), 2048)), block(256)), pass(min, grid(1), block(256)))
template <class T> __global__ void min(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    auto smallest = fold_of_parts<Extreme<T, -1>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() = minimum(out.at(), smallest.value);
}

template <Pass pass, class T>
DAHL_DEVICE void sum_of_lanes(const View<const T, ANY> &input, const View<compute_t<T>, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<compute_t<T>> sums(out);
    fold_lanes<Sum<compute_t<T>>, pass>(
        lanes, scratch, [](auto &sum, T element) { sum.add(widen(element)); }, [&](size_t lane, auto &sum) { sums[lane] += sum.value; });
}

template <class T>
__global__ void sum_axis_parts(View<const T, ANY> input, View<compute_t<T>, ANY> out, size_t axis, Scratch scratch) {
    sum_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(sum_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(sum_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(sum_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void sum_axis(View<const T, ANY> input, View<compute_t<T>, ANY> out, size_t axis, Scratch scratch) {
    sum_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <Pass pass, class T>
DAHL_DEVICE void mean_of_lanes(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, const Scratch &scratch) {
    using C = compute_t<T>;
    Lanes<const T> lanes(input, axis);
    Elements<T> means(out);
    C count = C(lanes.extent);
    fold_lanes<Sum<C>, pass>(
        lanes, scratch, [](auto &sum, T element) { sum.add(widen(element)); },
        [&](size_t lane, auto &sum) {
            C mean = sum.value / count;
            if (!is_finite(mean) && lanes.extent > 0) {
                mean = C(0);
                for (size_t i = 0; i < lanes.extent; i++) mean += widen(lanes[lane][i]) / count;
            }
            means[lane] = narrow<T>(mean);
        });
}

template <class T>
__global__ void mean_axis_parts(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    mean_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(mean_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(mean_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(mean_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void mean_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    mean_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <Pass pass, class T>
DAHL_DEVICE void largest_of_lanes(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<T> extremes(out);
    fold_lanes<Extreme<T, 1>, pass>(
        lanes, scratch, [](auto &largest, T element) { largest.add(element); },
        [&](size_t lane, auto &largest) { extremes[lane] = maximum(extremes[lane], largest.value); });
}

template <class T>
__global__ void max_axis_parts(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    largest_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(max_axis, types(T: element), scratch(32 * min(input.len() / 128, 131072)),
            pass(max_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(max_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void max_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    largest_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <Pass pass, class T>
DAHL_DEVICE void smallest_of_lanes(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<T> extremes(out);
    fold_lanes<Extreme<T, -1>, pass>(
        lanes, scratch, [](auto &smallest, T element) { smallest.add(element); },
        [&](size_t lane, auto &smallest) { extremes[lane] = minimum(extremes[lane], smallest.value); });
}

template <class T>
__global__ void min_axis_parts(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    smallest_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(min_axis, types(T: element), scratch(32 * min(input.len() / 128, 131072)),
            pass(min_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(min_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void min_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    smallest_of_lanes<Pass::Last>(input, out, axis, scratch);
}
