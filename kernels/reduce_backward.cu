// The gradients of sums, means and extremes by their input.
//
//     sum_backward, mean_backward:  out = gradient, divided by the number of elements for the mean; gradient: []
//     .._axis_backward:             the same along one axis, at which gradient has extent 1
//     max_backward, ..:             gradient at the first extreme, or the first NaN, and 0 elsewhere
//
// Those of sums and means write one number to many places, limited by the bandwidth of stores. Those of extremes find
// the extreme first. For a whole array two passes fold it, as for `max` (`include/fold.cuh`), and the first also writes
// the zeros; then one thread writes the gradient. Along an axis one kernel does both: the threads that share a lane
// fold it, then write it.
#include "extreme.cuh"
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

DAHL_KERNEL(sum_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void sum_backward(View<const T, 0> gradient, View<T, ANY> out) {
    Elements<T> to(out);
    for (size_t i = first_index(); i < to.len; i += grid_threads()) to[i] = gradient.at();
}

DAHL_KERNEL(mean_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void mean_backward(View<const T, 0> gradient, View<T, ANY> out) {
    Elements<T> to(out);
    T share = narrow<T>(widen(gradient.at()) / compute_t<T>(to.len));
    for (size_t i = first_index(); i < to.len; i += grid_threads()) to[i] = share;
}

DAHL_KERNEL(sum_axis_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void sum_axis_backward(View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    Lanes<const T> from(gradient, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        to.at(place) = from.at(place.before, 0, place.after);
    }
}

DAHL_KERNEL(mean_axis_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void mean_axis_backward(View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    Lanes<const T> from(gradient, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        to.at(place) = narrow<T>(widen(from.at(place.before, 0, place.after)) / compute_t<T>(to.extent));
    }
}

template <int sign, class T>
DAHL_DEVICE void clear_and_find(const View<const T, ANY> &input, const View<T, ANY> &out, const Scratch &scratch) {
    Elements<const T> from(input);
    Elements<T> to(out);
    using Found = FirstExtreme<compute_t<T>, sign>;
    fold_parts<Found>(from.len, scratch, [&](Found &found, size_t i) {
        found.add(widen(from[i]), i);
        to[i] = T{};
    });
}

template <int sign, class T>
DAHL_DEVICE void put_at_found(const View<const T, 0> &gradient, const View<T, ANY> &out, const Scratch &scratch) {
    Elements<T> to(out);
    auto found = fold_of_parts<FirstExtreme<compute_t<T>, sign>>(to.len, scratch);
    if (threadIdx.x == 0 && to.len > 0) to[found.index] = gradient.at();
}

template <class T>
__global__ void max_backward_parts(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    clear_and_find<1>(input, out, scratch);
}

DAHL_KERNEL(max_backward, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(max_backward_parts, grid(blocks(input.len(), 2048)), block(256)), pass(max_backward, grid(1), block(256)))
template <class T>
__global__ void max_backward(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    put_at_found<1>(gradient, out, scratch);
}

template <class T>
__global__ void min_backward_parts(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    clear_and_find<-1>(input, out, scratch);
}

DAHL_KERNEL(min_backward, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(min_backward_parts, grid(blocks(input.len(), 2048)), block(256)), pass(min_backward, grid(1), block(256)))
template <class T>
__global__ void min_backward(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    put_at_found<-1>(gradient, out, scratch);
}

// All threads that share a lane get the index of the extreme; each writes its own elements, so that no two write to
// one.
template <int sign, class T>
DAHL_DEVICE void put_along(const View<const T, ANY> &input, const View<const T, ANY> &gradient, const View<T, ANY> &out,
                           size_t axis) {
    Lanes<const T> inputs(input, axis), gradients(gradient, axis);
    Lanes<T> outs(out, axis);
    for_each_lane(inputs.count(), inputs.extent, inputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> from = inputs[lane];
        Lane<T> to = outs[lane];
        auto found = FirstExtreme<compute_t<T>, sign>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) found.add(widen(from[i]), i);
        found = share.fold(found);
        T put = gradients[lane][0];
        for (size_t i = share.first; i < share.end; i += share.step) to[i] = i == found.index ? put : T{};
    });
}

DAHL_KERNEL(max_axis_backward, types(T: real), grid(blocks(gradient.len(), 8)), block(32, 8))
template <class T>
__global__ void max_axis_backward(View<const T, ANY> input, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    put_along<1>(input, gradient, out, axis);
}

DAHL_KERNEL(min_axis_backward, types(T: real), grid(blocks(gradient.len(), 8)), block(32, 8))
template <class T>
__global__ void min_axis_backward(View<const T, ANY> input, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    put_along<-1>(input, gradient, out, axis);
}
