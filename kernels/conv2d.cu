// Two-dimensional convolution of a batch of images, and its gradients.
//
//     conv2d:                   out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] * input[n, i, r', c']
//     conv2d_backward_input:    out[n, i, r', c'] = sum over f, j, k of filters[f, i, j, k] * gradient[n, f, r, c]
//     conv2d_backward_filters:  out[f, i, j, k] += sum over n, r, c of gradient[n, f, r, c] * input[n, i, r', c']
//
// with r' = r * stride[0] + j - padding[0], c' = c * stride[1] + k - padding[1]; outside of the image there are zeros.
//
// Each is a product of two matrices, of which at least one is never in memory: a block of `tiled_product` asks for the elements of its
// tile, and finds by a few divisions which pixel one is (`include/product.cuh`). In all three an element of the output belongs to
// one thread, which adds what goes there in a fixed order; the gradient by the input is read from the positions that reach a pixel,
// not added by them.
//
// The gradient by the filters sums over all positions of all images, for few outputs: too few tiles for a device. So the
// positions are cut in up to 32 parts, each with blocks of its own (their z), that leave their sums in scratch memory; a second
// pass adds these up, in order.
#include "patches.cuh"

using namespace dahl;

DAHL_KERNEL(conv2d, types(T: real), grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 64), blocks(out.extent(1), 64)), block(16, 16))
template <class T>
__global__ void conv2d(View<const T, 4> input, View<const T, 4> filters, View<T, 4> out, Extents<2> stride, Extents<2> padding) {
    Window window(input, filters.extent(2), filters.extent(3), stride, padding);
    uint64_t rows = out.extent(2), cols = out.extent(3);
    FilterMatrix<T> left = {filters, false, true};
    Patches<T> right = {input, window, rows, cols, false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3);
    tiled_product<compute_t<T>>(out.extent(1), out.extent(0) * rows * cols, 0, inner, left, right,
                                [&](size_t channel, size_t position, compute_t<T> sum) {
                                    Three place = Three::of(position, rows, cols);
                                    out.at(place.outer, channel, place.row, place.col) = narrow<T>(sum);
                                });
}

// Gradients as a matrix [(image, row, col), (out channel, kernel row, kernel col)]: of each pixel, what came from it by each tap.
template <class T> struct Reaches {
    static constexpr bool HAS_GAPS = true; // where a tap reaches the pixel from no position
    View<const T, 4> gradient;
    Window window;
    bool along_inner;

    DAHL_DEVICE Three outer(size_t pixel) const { return Three::of(pixel, window.image[0], window.image[1]); }
    DAHL_DEVICE compute_t<T> at(const Three &pixel, size_t inner) const {
        Three place = position(pixel, inner);
        return is_position(place) ? widen(gradient.at(pixel.outer, place.outer, place.row, place.col)) : compute_t<T>(0);
    }
    DAHL_DEVICE bool is_gap(const Three &pixel, size_t inner) const { return !is_position(position(pixel, inner)); }

  private:
    // The channel and position from which a tap reaches a pixel.
    DAHL_DEVICE Three position(const Three &pixel, size_t inner) const {
        Three tap = Three::of(inner, window.kernel[0], window.kernel[1]);
        return {tap.outer, window.position(0, pixel.row, tap.row), window.position(1, pixel.col, tap.col)};
    }
    DAHL_DEVICE bool is_position(const Three &place) const {
        return place.row < gradient.extent(2) && place.col < gradient.extent(3);
    }
};

DAHL_KERNEL(conv2d_backward_input, types(T: real),
            grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 64), blocks(out.extent(1), 64)), block(16, 16))
template <class T>
__global__ void conv2d_backward_input(View<const T, 4> gradient, View<const T, 4> filters, View<T, 4> out, Extents<2> stride,
                                      Extents<2> padding) {
    Window window(out, filters.extent(2), filters.extent(3), stride, padding);
    uint64_t rows = out.extent(2), cols = out.extent(3);
    FilterMatrix<T> left = {filters, true, true};
    Reaches<T> right = {gradient, window, false};
    size_t inner = filters.extent(0) * filters.extent(2) * filters.extent(3);
    tiled_product<compute_t<T>>(out.extent(1), out.extent(0) * rows * cols, 0, inner, left, right,
                                [&](size_t channel, size_t pixel, compute_t<T> sum) {
                                    Three place = Three::of(pixel, rows, cols);
                                    out.at(place.outer, channel, place.row, place.col) = narrow<T>(sum);
                                });
}

// Gradients as a matrix [out channels, (image, row, col)].
template <class T> struct GradientMatrix {
    View<const T, 4> gradient;
    bool along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return channel; }
    DAHL_DEVICE compute_t<T> at(uint64_t channel, size_t inner) const {
        Three position = Three::of(inner, gradient.extent(2), gradient.extent(3));
        return widen(gradient.at(position.outer, channel, position.row, position.col));
    }
};

template <class T>
__global__ void conv2d_backward_filters_parts(View<const T, 4> input, View<const T, 4> gradient, View<compute_t<T>, 4> out,
                                              Extents<2> stride, Extents<2> padding, Task task) {
    Window window(input, out.extent(2), out.extent(3), stride, padding);
    GradientMatrix<T> left = {gradient, true};
    PatchesOfTaps<T> right = {{input, window, gradient.extent(2), gradient.extent(3), true}, true};
    size_t inner = gradient.extent(0) * gradient.extent(2) * gradient.extent(3);
    size_t each = ceil_div(inner, gridDim.z), first = blockIdx.z * each, taps = out.extent(1) * out.extent(2) * out.extent(3);
    size_t end = first + each < inner ? first + each : inner;
    compute_t<T> *part = task.scratch_as<compute_t<T>>() + blockIdx.z * out.len();
    tiled_product<compute_t<T>>(out.extent(0), taps, first, end, left, right,
                                [&](size_t channel, size_t tap, compute_t<T> sum) { part[channel * taps + tap] = sum; });
}

DAHL_KERNEL(conv2d_backward_filters, types(T: real),
            scratch(sizeof(compute_t<T>) * out.len() * min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3), 1024), 32)),
            pass(conv2d_backward_filters_parts,
                 grid(blocks(out.extent(1) * out.extent(2) * out.extent(3), 64), blocks(out.extent(0), 64),
                      min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3), 1024), 32)),
                 block(16, 16)),
            pass(conv2d_backward_filters, grid(blocks(out.len(), 256)), block(256)))
template <class T>
__global__ void conv2d_backward_filters(View<const T, 4> input, View<const T, 4> gradient, View<compute_t<T>, 4> out,
                                        Extents<2> stride, Extents<2> padding, Task task) {
    uint64_t parts = blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3), 1024);
    parts = parts < 32 ? parts : 32;
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        compute_t<T> sum = 0;
        for (uint64_t part = 0; part < parts; part++) sum += task.scratch_as<compute_t<T>>()[part * out.len() + i];
        Three tap = Three::of(i, out.extent(2), out.extent(3));
        Division channels = divide(tap.outer, out.extent(1));
        out.at(channels.quotient, channels.remainder, tap.row, tap.col) += sum;
    }
}
