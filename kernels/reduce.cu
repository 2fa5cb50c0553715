// Sums, means and extremes, of everything or along an axis.
//
//     sum:       out += sum of input[i]                        input: any, out: []
//     mean:      out  = sum of input[i] / count
//     max, min:  out  = maximum(out, input[i]), and so on; NaN if one is NaN
//     .._axis:   the same along one axis, which stays with extent 1
//
// All read each element once and do next to nothing with it: how fast they are is how well they read. Of a whole array,
// blocks fold a share each and a second pass merges what they have; along an axis, the layout decides whether threads go
// along a lane or beside each other down 32 lanes (`include/fold.cuh`).
//
// Half-precision numbers are summed up as float. A sum that overflows where the mean does not is taken again, of
// elements divided by their number; one thread does so, since it is rare.
#include "fold.cuh"

using namespace dahl;

template <class T> __global__ void sum_parts(View<const T, ANY> input, View<compute_t<T>, 0> out, Task task) {
    Elements<const T> elements(input);
    fold_parts<Sum<compute_t<T>>>(elements.len, task, [&](auto &sum, size_t i) { sum.add(widen(elements[i])); });
}

DAHL_KERNEL(sum, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(sum_parts, grid(blocks(input.len(), 2048)), block(256)), pass(sum, grid(1), block(256)))
template <class T> __global__ void sum(View<const T, ANY> input, View<compute_t<T>, 0> out, Task task) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(input.len(), task);
    if (threadIdx.x == 0) out.at() += sum.value;
}

template <class T> __global__ void mean_parts(View<const T, ANY> input, View<T, 0> out, Task task) {
    Elements<const T> elements(input);
    fold_parts<Sum<compute_t<T>>>(elements.len, task, [&](auto &sum, size_t i) { sum.add(widen(elements[i])); });
}

DAHL_KERNEL(mean, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(mean_parts, grid(blocks(input.len(), 2048)), block(256)), pass(mean, grid(1), block(256)))
template <class T> __global__ void mean(View<const T, ANY> input, View<T, 0> out, Task task) {
    using C = compute_t<T>;
    C count = C(input.len()), mean = fold_of_parts<Sum<C>>(input.len(), task).value / count;
    if (!is_finite(mean)) {
        Elements<const T> elements(input);
        Sum<C> quotients = Sum<C>::identity();
        for (size_t i = threadIdx.x; i < elements.len; i += FOLD_THREADS) quotients.add(widen(elements[i]) / count);
        mean = input.len() == 0 ? Limits<C>::nan() : fold_block(quotients).value;
    }
    if (threadIdx.x == 0) out.at() = narrow<T>(mean);
}

template <class T> __global__ void max_parts(View<const T, ANY> input, View<T, 0> out, Task task) {
    Elements<const T> elements(input);
    fold_parts<Extreme<T, 1>>(elements.len, task, [&](auto &largest, size_t i) { largest.add(elements[i]); });
}

DAHL_KERNEL(max, types(T: element), scratch(32 * blocks(input.len(), 2048)),
            pass(max_parts, grid(blocks(input.len(), 2048)), block(256)), pass(max, grid(1), block(256)))
template <class T> __global__ void max(View<const T, ANY> input, View<T, 0> out, Task task) {
    auto largest = fold_of_parts<Extreme<T, 1>>(input.len(), task);
    if (threadIdx.x == 0) out.at() = maximum(out.at(), largest.value);
}

template <class T> __global__ void min_parts(View<const T, ANY> input, View<T, 0> out, Task task) {
    Elements<const T> elements(input);
    fold_parts<Extreme<T, -1>>(elements.len, task, [&](auto &smallest, size_t i) { smallest.add(elements[i]); });
}

DAHL_KERNEL(min, types(T: element), scratch(32 * blocks(input.len(), 2048)),
            pass(min_parts, grid(blocks(input.len(), 2048)), block(256)), pass(min, grid(1), block(256)))
template <class T> __global__ void min(View<const T, ANY> input, View<T, 0> out, Task task) {
    auto smallest = fold_of_parts<Extreme<T, -1>>(input.len(), task);
    if (threadIdx.x == 0) out.at() = minimum(out.at(), smallest.value);
}

DAHL_KERNEL(sum_axis, types(T: real), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void sum_axis(View<const T, ANY> input, View<compute_t<T>, ANY> out, size_t axis) {
    Lanes<const T> lanes(input, axis);
    Elements<compute_t<T>> sums(out);
    fold_lanes<Sum<compute_t<T>>>(
        lanes, [&](auto &sum, T element) { sum.add(widen(element)); },
        [&](size_t lane, auto &sum) { sums[lane] += sum.value; });
}

DAHL_KERNEL(mean_axis, types(T: real), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void mean_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> lanes(input, axis);
    Elements<T> means(out);
    C count = C(lanes.extent);
    fold_lanes<Sum<C>>(
        lanes, [&](auto &sum, T element) { sum.add(widen(element)); },
        [&](size_t lane, auto &sum) {
            C mean = sum.value / count;
            if (!is_finite(mean) && lanes.extent > 0) {
                mean = C(0);
                for (size_t i = 0; i < lanes.extent; i++) mean += widen(lanes[lane][i]) / count;
            }
            means[lane] = narrow<T>(mean);
        });
}

DAHL_KERNEL(max_axis, types(T: element), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void max_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    Lanes<const T> lanes(input, axis);
    Elements<T> extremes(out);
    fold_lanes<Extreme<T, 1>>(
        lanes, [&](auto &largest, T element) { largest.add(element); },
        [&](size_t lane, auto &largest) { extremes[lane] = maximum(extremes[lane], largest.value); });
}

DAHL_KERNEL(min_axis, types(T: element), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void min_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    Lanes<const T> lanes(input, axis);
    Elements<T> extremes(out);
    fold_lanes<Extreme<T, -1>>(
        lanes, [&](auto &smallest, T element) { smallest.add(element); },
        [&](size_t lane, auto &smallest) { extremes[lane] = minimum(extremes[lane], smallest.value); });
}
