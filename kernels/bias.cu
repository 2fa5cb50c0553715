// A vector added along an axis, and its gradient.
//
//     bias:           out[b, i, a] = input[b, i, a] + bias[i]             i along axis, b before it, a after it
//     bias_backward:  out[i] += sum over b and a of gradient[b, i, a]
//
// The first is a thread for each element. The second folds, for each `i`, what lies at this index of the axis: in runs of `after`
// elements, which a block goes along; or, if the axis is the last, beside each other, so that a warp goes down 32 of them.
#include "fold.cuh"

using namespace dahl;

DAHL_KERNEL(bias, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void bias(View<const T, ANY> input, View<const T, 1> bias, View<T, ANY> out, size_t axis) {
    Elements<const T> from(input);
    Elements<T> to(out);
    Lanes<T> lanes(out, axis);
    for (size_t i = first_index(); i < to.len; i += grid_threads()) {
        to[i] = narrow<T>(widen(from[i]) + widen(bias.at(lanes.position(i).along)));
    }
}

DAHL_KERNEL(bias_backward, types(T: real), grid(blocks(out.len(), 1)), block(32, 8))
template <class T> __global__ void bias_backward(View<const T, ANY> gradient, View<compute_t<T>, 1> out, size_t axis) {
    Elements<const T> elements(gradient);
    Lanes<const T> lanes(gradient, axis);
    size_t extent = lanes.extent, after = lanes.after;
    fold_lanes<Sum<compute_t<T>>>(
        extent, lanes.count(), after == 1 ? extent : 1, [](size_t along) { return along; },
        [&](auto &sum, size_t along, size_t i) {
            Division place = divide(i, after);
            sum.add(widen(elements[(place.quotient * extent + along) * after + place.remainder]));
        },
        [&](size_t along, auto &sum) { out.at(along) += sum.value; });
}
