// Two-dimensional convolution of a batch of images, and its gradients.
//
//     conv2d:                   out[n, f, r, c] = sum over i, j, k of filters[f, i, j, k] * input[n, i, r', c']
//     conv2d_backward_input:    out[n, i, r', c'] = sum over f, j, k of filters[f, i, j, k] * gradient[n, f, r, c]
//     conv2d_backward_filters:  out[f, i, j, k] += sum over n, r, c of gradient[n, f, r, c] * input[n, i, r', c']
//
// with r' = r * stride[0] + j - padding[0], c' = c * stride[1] + k - padding[1]; outside of the image there are zeros.
//
// Each is a product of two matrices, of which at least one never exists in memory: `tiled_product` asks the factors for
// the elements of a tile, whose rows and columns are pixels and taps (`include/product.cuh`). In all three, one thread
// owns each element of the output and adds its terms in a fixed order; the gradient by the input gathers from the
// positions that reach a pixel, instead of scattering to pixels.
//
// Halves are multiplied by tensor cores: a warp has 32 x 32 channels and pixels, or channels and taps, of a tile
// (`include/tensor_tile.cuh`).
//
// The gradient by the filters sums over all positions of all images, for few outputs, so the positions are split into
// parts (`include/parts.cuh`).
#include "parts.cuh"
#include "patches.cuh"
#include "product.cuh"
#include "window.cuh"

using namespace dahl;

DAHL_KERNEL(conv2d, types(T: real), grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 128), blocks(out.extent(1), 64)),
            block(256), resident(8 / sizeof(compute_t<T>)))
template <class T>
__global__ void conv2d(View<const T, 4> input, View<const T, 4> filters, View<T, 4> out, Extents<2> stride, Extents<2> padding) {
    Window window(input, filters.extent(2), filters.extent(3), stride, padding);
    check_kernel(window);
    FilterMatrix<T> left = {filters, false, true};
    Patches<T> right = {input, window, out.extent(2), out.extent(3), false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3);
    flat_or_tiled_product<T>(
        out.extent(1), out.extent(0) * out.extent(2) * out.extent(3), inner, left, right,
        [&](size_t channel) { return bytes_along(out, 1, channel); }, [&](size_t position) { return bytes_of_place(out, position); },
        [&](uint64_t channel, uint64_t position, compute_t<T> sum) { element_at(out.data, channel, position) = narrow<T>(sum); });
}

// Gradients as a matrix [(image, row, col), (out channel, kernel row, kernel col)]: for each pixel and tap, the
// gradient of the position from which the tap reaches the pixel.
//
// A tap reaches a pixel from position (pixel + padding - tap) / stride, if that is an integer: if both have the same
// remainder modulo the stride. So taps are numbered by remainder first; consecutive taps of one remainder belong to
// positions that decrease by one.
template <class T> struct Reaches {
    static constexpr bool HAS_GAPS = true; // where a tap reaches the pixel from no position
    View<const T, 4> gradient;
    Window window;
    bool along_inner;

    DAHL_DEVICE Reach outer(size_t pixel) const {
        Three place = Three::of(pixel, window.image[0], window.image[1]);
        Division row = divide(place.row + window.padding[0], window.stride[0]);
        Division col = divide(place.col + window.padding[1], window.stride[1]);
        Taps rows = reaching(0, row), cols = reaching(1, col);
        uint64_t bytes = bytes_to(row.quotient, col.quotient);
        return {bytes_along(gradient, 0, place.outer) + bytes, rows.first, rows.count, cols.first, cols.count};
    }
    DAHL_DEVICE Tap inner(size_t inner) const {
        Three tap = Three::of(inner, window.kernel[0], window.kernel[1]);
        Division row = divide(tap.row, window.stride[0]), col = divide(tap.col, window.stride[1]);
        uint64_t bytes = bytes_along(gradient, 1, tap.outer) - bytes_to(row.quotient, col.quotient);
        return {bytes, uint32_t(of_rest(0) * row.remainder + row.quotient), uint32_t(of_rest(1) * col.remainder + col.quotient)};
    }
    DAHL_DEVICE T at(const Reach &pixel, const Tap &tap) const {
        return pixel.has(tap) ? element_at(gradient.data, pixel.bytes, tap.bytes) : T{};
    }
    DAHL_DEVICE T value(T element) const { return element; }
    DAHL_DEVICE bool is_gap(const Reach &pixel, const Tap &tap) const { return !pixel.has(tap); }

  private:
    // The largest number of taps with one remainder.
    DAHL_DEVICE uint64_t of_rest(int axis) const { return ceil_div(window.kernel[axis], window.stride[axis]); }
    // The taps that reach the pixel `start` rows or columns after the beginning of the first position's window.
    DAHL_DEVICE Taps reaching(int axis, const Division &start) const {
        uint64_t positions = gradient.extents[2 + axis], all = of_rest(axis), end = start.quotient < all ? start.quotient + 1 : all;
        if (start.remainder >= window.kernel[axis]) return {0, 0};
        Taps taps = Taps::between(start.quotient < positions ? 0 : start.quotient - positions + 1, end, all);
        return {uint32_t(all * start.remainder + taps.first), taps.count};
    }
    DAHL_DEVICE uint64_t bytes_to(uint64_t row, uint64_t col) const {
        return (row * uint64_t(gradient.strides[2]) + col * uint64_t(gradient.strides[3])) * sizeof(T);
    }
};

DAHL_KERNEL(conv2d_backward_input, types(T: real),
            grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 128), blocks(out.extent(1), 64)), block(256),
            resident(8 / sizeof(compute_t<T>)))
template <class T>
__global__ void conv2d_backward_input(View<const T, 4> gradient, View<const T, 4> filters, View<T, 4> out, Extents<2> stride,
                                      Extents<2> padding) {
    Window window(out, filters.extent(2), filters.extent(3), stride, padding);
    check_kernel(window);
    FilterMatrix<T> left = {filters, true, true};
    Reaches<T> right = {gradient, window, false};
    size_t inner = filters.extent(0) * filters.extent(2) * filters.extent(3);
    flat_or_tiled_product<T>(
        out.extent(1), out.extent(0) * out.extent(2) * out.extent(3), inner, left, right,
        [&](size_t channel) { return bytes_along(out, 1, channel); }, [&](size_t pixel) { return bytes_of_place(out, pixel); },
        [&](uint64_t channel, uint64_t pixel, compute_t<T> sum) { element_at(out.data, channel, pixel) = narrow<T>(sum); });
}

// Gradients as a matrix [out channels, (image, row, col)].
template <class T> struct GradientMatrix {
    View<const T, 4> gradient;
    bool along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return bytes_along(gradient, 1, channel); }
    DAHL_DEVICE uint64_t inner(size_t inner) const {
        return bytes_of_place(gradient, inner);
    }
    DAHL_DEVICE T at(uint64_t channel, uint64_t position) const { return element_at(gradient.data, channel, position); }
    DAHL_DEVICE T value(T element) const { return element; }
};

template <class T>
__global__ void conv2d_backward_filters_parts(View<const T, 4> input, View<const T, 4> gradient, View<compute_t<T>, 4> out,
                                              Extents<2> stride, Extents<2> padding, Scratch scratch) {
    Window window(input, out.extent(2), out.extent(3), stride, padding);
    check_kernel(window);
    GradientMatrix<T> left = {gradient, true};
    PatchesOfTaps<T> right = {{input, window, gradient.extent(2), gradient.extent(3), true}, true};
    Part part = Part::of_block(gradient.extent(0) * gradient.extent(2) * gradient.extent(3));
    size_t taps = out.extent(1) * out.extent(2) * out.extent(3);
    compute_t<T> *sums = scratch.as<compute_t<T>>() + blockIdx.z * out.len();
    tiled_product<T>(
        out.extent(0), taps, part.first, part.end, left, right, [&](size_t channel) { return channel * taps; },
        [](size_t tap) { return tap; },
        [&](size_t channel, size_t tap, compute_t<T> sum) { sums[channel + tap] = sum; });
}

DAHL_KERNEL(conv2d_backward_filters, types(T: real),
            let(columns = blocks(out.extent(1) * out.extent(2) * out.extent(3), 128)),
            let(rows = blocks(out.extent(0), 64)),
            let(parts = max(min(264 / (columns * rows), gradient.extent(0) * gradient.extent(2) * gradient.extent(3) / 256), 1)),
            scratch(sizeof(compute_t<T>) * out.len() * parts),
            pass(conv2d_backward_filters_parts, grid(columns, rows, parts), block(256), resident(8 / sizeof(compute_t<T>))),
            pass(conv2d_backward_filters, grid(blocks(out.len(), 8)), block(32, 8)))
template <class T>
__global__ void conv2d_backward_filters(View<const T, 4> input, View<const T, 4> gradient, View<compute_t<T>, 4> out,
                                        Extents<2> stride, Extents<2> padding, Scratch scratch) {
    uint64_t positions = gradient.extent(0) * gradient.extent(2) * gradient.extent(3);
    uint64_t taps = out.extent(1) * out.extent(2) * out.extent(3);
    uint64_t parts = parts_of(out.extent(0), taps, positions, 256);
    sum_parts(scratch.as<compute_t<T>>(), parts, out.len(), [&](size_t i, compute_t<T> sum) {
        Three tap = Three::of(i, out.extent(2), out.extent(3));
        Division channels = divide(tap.outer, out.extent(1));
        out.at(channels.quotient, channels.remainder, tap.row, tap.col) += sum;
    });
}
