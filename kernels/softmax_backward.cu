// The gradients of softmax and of its logarithm, from their outputs, along an axis.
//
//     softmax_backward:      out[i] = output[i] * (gradient[i] - sum of output[j] * gradient[j])
//     log_softmax_backward:  out[i] = gradient[i] - exp(output[i]) * sum of gradient[j]
//
// As in the forward pass: the threads that share a lane fold it, all get the sum, and each writes its elements.
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

DAHL_KERNEL(softmax_backward, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T>
__global__ void softmax_backward(View<const T, ANY> output, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> outputs(output, axis), gradients(gradient, axis);
    Lanes<T> to(out, axis);
    for_each_lane(outputs.count(), outputs.extent, outputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> y = outputs[lane], dy = gradients[lane];
        Lane<T> dx = to[lane];
        auto sum = Sum<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) sum.add(widen(y[i]) * widen(dy[i]));
        sum = share.fold(sum);
        for (size_t i = share.first; i < share.end; i += share.step) dx[i] = narrow<T>(widen(y[i]) * (widen(dy[i]) - sum.value));
    });
}

DAHL_KERNEL(log_softmax_backward, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T>
__global__ void log_softmax_backward(View<const T, ANY> output, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> outputs(output, axis), gradients(gradient, axis);
    Lanes<T> to(out, axis);
    for_each_lane(outputs.count(), outputs.extent, outputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> y = outputs[lane], dy = gradients[lane];
        Lane<T> dx = to[lane];
        auto sum = Sum<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) sum.add(widen(dy[i]));
        sum = share.fold(sum);
        for (size_t i = share.first; i < share.end; i += share.step) dx[i] = narrow<T>(widen(dy[i]) - exp(widen(y[i])) * sum.value);
    });
}
