// Pooling: the maximum or the mean of a window moved over every channel of every image, and its gradient.
//
//     max_pool2d:           out[n, c, i, j] = the largest element under the window; index = where in the plane it is, the first
//                           of equal ones, or of NaN
//     max_pool2d_backward:  out[n, c, p] = sum of the gradients whose index is p
//     avg_pool2d:           out[n, c, i, j] = sum of what is under the window / (size[0] * size[1]), padding counting as zeros
//     avg_pool2d_backward:  out[n, c, p] = sum over the windows that cover p of gradient / (size[0] * size[1])
//
// Forward, and for the gradient of a mean, one thread for each element of the output goes over the elements under the
// window, or over the windows that cover the element: windows are small, and the elements that neighbours share are
// cached.
//
// The gradient of a maximum is scattered to the place of its index, plane by plane (`include/unpool.cuh`).
#include "extreme.cuh"
#include "unpool.cuh"
#include "window.cuh"

using namespace dahl;

// The row-major index of an element of images, split into image, channel, row and column.
struct Pixel {
    uint64_t image, channel, row, col;

    template <class T> DAHL_DEVICE Pixel(const View<T, 4> &images, size_t i) {
        Division line = divide(i, images.extent(3)), plane = divide(line.quotient, images.extent(2));
        Division channels = divide(plane.quotient, images.extent(1));
        image = channels.quotient, channel = channels.remainder, row = plane.remainder, col = line.remainder;
    }
};

DAHL_KERNEL(max_pool2d, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void max_pool2d(View<const T, 4> input, View<T, 4> out, View<uint32_t, 4> index, Extents<2> size, Extents<2> stride,
                           Extents<2> padding) {
    using Found = FirstExtreme<compute_t<T>, 1>;
    Window window(input, size[0], size[1], stride, padding);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Pixel at(out, i);
        Found found = Found::identity();
        for (uint64_t row_tap = 0; row_tap < size[0]; row_tap++) {
            uint64_t row = window.source(0, at.row, row_tap);
            if (row >= window.image[0]) continue;
            for (uint64_t col_tap = 0; col_tap < size[1]; col_tap++) {
                uint64_t col = window.source(1, at.col, col_tap);
                if (col >= window.image[1]) continue;
                found.add(widen(input.at(at.image, at.channel, row, col)), row * window.image[1] + col);
            }
        }
        out.at(at.image, at.channel, at.row, at.col) = narrow<T>(found.value);
        index.at(at.image, at.channel, at.row, at.col) = uint32_t(found.index);
    }
}

DAHL_KERNEL(max_pool2d_backward, types(T: real), scratch(sizeof(compute_t<T>) * out.len()),
            grid(blocks(out.extent(0) * out.extent(1), 1)), block(256))
template <class T>
__global__ void max_pool2d_backward(View<const T, 4> gradient, View<const uint32_t, 4> index, View<T, 4> out, Task task) {
    // The element of an image with a row-major index in its plane.
    auto at = [](const auto &images, size_t plane, size_t i) -> auto & {
        Division channels = divide(plane, images.extent(1)), place = divide(i, images.extent(3));
        return images.at(channels.quotient, channels.remainder, place.quotient, place.remainder);
    };
    unpool<compute_t<T>>(
        out.extent(0) * out.extent(1), gradient.extent(2) * gradient.extent(3), out.extent(2) * out.extent(3), task,
        [&](size_t plane, size_t i) { return at(gradient, plane, i); }, [&](size_t plane, size_t i) { return at(index, plane, i); },
        [&](size_t plane, size_t pixel, compute_t<T> sum) { at(out, plane, pixel) = narrow<T>(sum); });
}

DAHL_KERNEL(avg_pool2d, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void avg_pool2d(View<const T, 4> input, View<T, 4> out, Extents<2> size, Extents<2> stride, Extents<2> padding) {
    using C = compute_t<T>;
    Window window(input, size[0], size[1], stride, padding);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Pixel at(out, i);
        C sum = 0;
        for (uint64_t row_tap = 0; row_tap < size[0]; row_tap++) {
            uint64_t row = window.source(0, at.row, row_tap);
            if (row >= window.image[0]) continue;
            C line = 0; // over a large window the error is that of rows and columns, not of their product
            for (uint64_t col_tap = 0; col_tap < size[1]; col_tap++) {
                uint64_t col = window.source(1, at.col, col_tap);
                if (col < window.image[1]) line += widen(input.at(at.image, at.channel, row, col));
            }
            sum += line;
        }
        out.at(at.image, at.channel, at.row, at.col) = narrow<T>(sum / C(size[0] * size[1]));
    }
}

DAHL_KERNEL(avg_pool2d_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void avg_pool2d_backward(View<const T, 4> gradient, View<T, 4> out, Extents<2> size, Extents<2> stride, Extents<2> padding) {
    using C = compute_t<T>;
    Window window(out, size[0], size[1], stride, padding);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Pixel at(out, i);
        C sum = 0;
        for (uint64_t row_tap = 0; row_tap < size[0]; row_tap++) {
            uint64_t row = window.position(0, at.row, row_tap);
            if (row >= gradient.extent(2)) continue;
            for (uint64_t col_tap = 0; col_tap < size[1]; col_tap++) {
                uint64_t col = window.position(1, at.col, col_tap);
                if (col >= gradient.extent(3)) continue;
                sum += widen(gradient.at(at.image, at.channel, row, col)) / C(size[0] * size[1]);
            }
        }
        out.at(at.image, at.channel, at.row, at.col) = narrow<T>(sum);
    }
}
