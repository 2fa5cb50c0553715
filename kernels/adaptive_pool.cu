// Pooling to given extents, by windows that divide the input as evenly as they can: maxima, means, and the gradient of means.
//
//     adaptive_max_pool:           out[n, c, p] = the largest of input[n, c, first(p) .. end(p)], with its index in the plane
//     adaptive_avg_pool:           out[n, c, p] = the mean of input[n, c, first(p) .. end(p)]
//     adaptive_avg_pool_backward:  out[n, c, q] = sum over the windows that cover q of gradient / elements of the window
//
// with first(p) = p * input / output, rounded down, and end(p) = (p + 1) * input / output, rounded up, along each axis.
// One thread for each element of the output, as for other windows (`include/span.cuh`). The gradient of the maxima is that
// of `max_pool`.
#include "span.cuh"

using namespace dahl;

struct Divided {
    Spatial from, to;

    template <class T, class U>
    DAHL_DEVICE Divided(const View<T, ANY> &input, const View<U, ANY> &output)
        : from(Spatial::extents(volumes(input))), to(Spatial::extents(volumes(output))) {}

    DAHL_DEVICE Span span(int axis, uint64_t position) const {
        uint64_t first = divide(position * from[axis], to[axis]).quotient;
        uint64_t count = ceil_div((position + 1) * from[axis], to[axis]) - first;
        return {first, count, 1, count};
    }
    // first(p) <= at if p * from < (at + 1) * to, and at < end(p) if at * to < (p + 1) * from.
    template <class Body> DAHL_DEVICE void for_each_position(int axis, uint64_t at, Body body) const {
        uint64_t end = ceil_div((at + 1) * to[axis], from[axis]);
        for (uint64_t position = divide(at * to[axis], from[axis]).quotient; position < end; position++) body(position);
    }
};

DAHL_KERNEL(adaptive_max_pool, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void adaptive_max_pool(View<const T, ANY> input, View<T, ANY> out, View<uint32_t, ANY> index, Extents<ANY> extents) {
    Divided windows(input, out);
    max_of_windows<T>(input, out, index, [&](uint64_t) { return windows; });
}

DAHL_KERNEL(adaptive_avg_pool, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void adaptive_avg_pool(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> extents) {
    mean_of_windows<T>(input, out, Divided(input, out));
}

DAHL_KERNEL(adaptive_avg_pool_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void adaptive_avg_pool_backward(View<const T, ANY> gradient, View<T, ANY> out, Extents<ANY> extents) {
    mean_of_windows_backward<T>(gradient, out, Divided(out, gradient));
}
