// Softmax and its logarithm along an axis.
//
//     softmax:      out[i] = exp(input[i]) / sum of exp(input[j])
//     log_softmax:  out[i] = input[i] - ln(sum of exp(input[j]))
//
// The largest element is subtracted first, so that nothing overflows (Goodfellow, Bengio and Courville 2016, Deep Learning,
// section 4.1). A line with a NaN or with plus infinity becomes NaN.
//
// The threads that share a lane (`include/lanes.cuh`) go over it three times: for the largest element, for the sum, and
// to write. Only the first time is the lane read from memory; then it is cached, unless it is very long.
#include "lanes.cuh"
#include "softmax.cuh"

using namespace dahl;

DAHL_KERNEL(softmax, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T> __global__ void softmax(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    for_each_lane(from.count(), from.extent, from.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> logits = from[lane];
        Lane<T> results = to[lane];
        auto parts = SoftmaxParts<C>::of(share, logits);
        for (size_t i = share.first; i < share.end; i += share.step) results[i] = narrow<T>(parts.softmax(widen(logits[i])));
    });
}

DAHL_KERNEL(log_softmax, types(T: real), grid(blocks(out.len() / max(out.extent(axis), 1), 8)), block(32, 8))
template <class T> __global__ void log_softmax(View<const T, ANY> input, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    for_each_lane(from.count(), from.extent, from.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> logits = from[lane];
        Lane<T> results = to[lane];
        auto parts = SoftmaxParts<C>::of(share, logits);
        C logarithm = parts.logarithm();
        for (size_t i = share.first; i < share.end; i += share.step) {
            results[i] = narrow<T>(widen(logits[i]) - parts.largest - logarithm);
        }
    });
}
