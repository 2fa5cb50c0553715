// Pooling over one to three spatial axes: the maximum or the mean of a window that moves over every channel of every image,
// with stride, padding and a dilation, and its gradient.
//
//     max_pool:           out[n, c, p] = the largest element under the window; index = where in the plane it is, the first of
//                         equal ones, or of NaN
//     max_pool_backward:  out[n, c, q] = sum of the gradients whose index is q
//     avg_pool:           out[n, c, p] = sum of what is under the window / how many count, with or without padding
//     avg_pool_backward:  out[n, c, q] = sum over the windows that cover q of gradient / how many count
//
// One thread for each element of the output (`include/span.cuh`); a block(256) has neighbouring ones, which read
// neighbouring elements. Each element of the input is read from memory once, and for further windows from the cache. The
// gradient of a maximum is scattered to the places of the indices, plane by plane (`include/unpool.cuh`).
#include "planes.cuh"
#include "span.cuh"
#include "unpool.cuh"

using namespace dahl;

// A window that moves with a stride.
struct Moved {
    Slides slides;
    Spatial positions;
    bool count_padding;

    // Over an input, and as many positions as the output has.
    template <class T, class U>
    DAHL_DEVICE Moved(const View<T, ANY> &input, const View<U, ANY> &output, const Extents<ANY> &size, const Extents<ANY> &stride,
                      const Extents<ANY> &padding, const Extents<ANY> &dilation, bool count_padding)
        : slides{Spatial::extents(volumes(input)), Spatial::given(size, 1), Spatial::given(stride, 1), Spatial::given(padding, 0),
                 Spatial::given(dilation, 1)},
          positions(Spatial::extents(volumes(output))), count_padding(count_padding) {}

    DAHL_DEVICE Span span(int axis, uint64_t position) const {
        uint64_t start = position * slides.stride[axis], padding = slides.padding[axis], extent = slides.extent[axis];
        uint64_t first = slides.taps_before(axis, start, padding), end = slides.taps_before(axis, start, extent + padding);
        uint64_t counted = count_padding ? slides.taps_before(axis, start, extent + 2 * padding) : end - first;
        return {start + first * slides.dilation[axis] - padding, end - first, slides.dilation[axis], counted};
    }
    template <class Body> DAHL_DEVICE void for_each_position(int axis, uint64_t at, Body body) const {
        for (uint64_t tap = 0; tap < slides.kernel[axis]; tap++) {
            uint64_t position = slides.position(axis, at, tap);
            if (position < positions[axis]) body(position);
        }
    }
};

DAHL_KERNEL(max_pool, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void max_pool(View<const T, ANY> input, View<T, ANY> out, View<uint32_t, ANY> index, Extents<ANY> size, Extents<ANY> stride,
                         Extents<ANY> padding, Extents<ANY> dilation, bool ceil, bool count_padding) {
    Moved windows(input, out, size, stride, padding, dilation, count_padding);
    max_of_windows<T>(input, out, index, [&](uint64_t) { return windows; });
}

DAHL_KERNEL(max_pool_backward, types(T: real), scratch(sizeof(compute_t<T>) * out.len()),
            grid(blocks(out.extent(0) * out.extent(1), 1)), block(256))
template <class T>
__global__ void max_pool_backward(View<const T, ANY> gradient, View<const uint32_t, ANY> index, View<T, ANY> out, Extents<ANY> extents,
                                  Task task) {
    Planes<const T> gradients(gradient);
    Planes<const uint32_t> indices(index);
    Planes<T> to(out);
    auto at = [](const auto &planes, size_t plane, size_t i) -> auto & {
        Division channels = divide(plane, planes.channels);
        return planes.at(channels.quotient, channels.remainder, i);
    };
    unpool<compute_t<T>>(
        to.batch * to.channels, gradients.plane, to.plane, task, [&](size_t plane, size_t i) { return at(gradients, plane, i); },
        [&](size_t plane, size_t i) { return at(indices, plane, i); },
        [&](size_t plane, size_t i, compute_t<T> sum) { at(to, plane, i) = narrow<T>(sum); });
}

DAHL_KERNEL(avg_pool, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void avg_pool(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> size, Extents<ANY> stride, Extents<ANY> padding,
                         Extents<ANY> dilation, bool ceil, bool count_padding) {
    mean_of_windows<T>(input, out, Moved(input, out, size, stride, padding, dilation, count_padding));
}

DAHL_KERNEL(avg_pool_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void avg_pool_backward(View<const T, ANY> gradient, View<T, ANY> out, Extents<ANY> size, Extents<ANY> stride,
                                  Extents<ANY> padding, Extents<ANY> dilation, bool ceil, bool count_padding) {
    mean_of_windows_backward<T>(gradient, out, Moved(out, gradient, size, stride, padding, dilation, count_padding));
}
