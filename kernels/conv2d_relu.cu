// Convolution fused with the operations that follow it in a network (bias, rectifier, pooling), as an epilogue on the
// sums in registers; and the gradients through all of them.
//
//     conv2d_relu:               out[n, f, r, c] = max(conv2d(input, filters)[n, f, r, c] + bias[f], 0)
//     conv2d_relu_max_pool2d:    out[n, f, i, j] = the largest of a window of these; index = where in the plane it is, the first of
//                                equal ones before the rectifier, or of NaN
//     conv2d_relu_backward:      by_filters += conv2d_backward_filters(input, gradient where `output` is above 0 or NaN; else 0),
//                                by_bias[f] += the sum of the gradients of channel f that passed the rectifier
//     bias_relu_max_pool2d_backward:  out[n, f, p] = the gradient whose index is p, if `output` there is above 0 or NaN; else 0;
//                                by_bias as above
//     conv2d_relu_max_pool2d_backward:  by_filters += conv2d_backward_filters(input, what bias_relu_max_pool2d_backward gives),
//                                by_bias as above
//
// The stride is 1; windows do not overlap. The sums are those of `conv2d`, in the same order (`include/product.cuh`).
//
// With pooling, a tile of the product has a column for each place of a window, four places at a time. These are a quad of
// columns, of which one thread has all: it keeps the largest, so only the pooled elements are written. Which columns are a
// quad depends on how the tile is computed (`include/fma_tile.cuh`, `include/tensor_tile.cuh`).
//
// The gradients that pass the rectifier go to the places that their indices name, and are summed by channel in the same
// pass (`include/passed.cuh`).
//
// The gradient by the filters is computed as in `conv2d.cu`, from the gradients by the convolution's sums, which a
// first pass leaves in scratch memory in the compute type. Each of them is a gradient of the pooled elements or 0, so halves
// stay halves, and tensor cores multiply them.
#include "parts.cuh"
#include "passed.cuh"
#include "patches.cuh"
#include "plane.cuh"
#include "product.cuh"
#include "window.cuh"

using namespace dahl;

// The rectifier; NaN stays NaN.
template <class T> DAHL_DEVICE T rectified(compute_t<T> sum) { return narrow<T>(maximum(sum, compute_t<T>(0))); }

DAHL_KERNEL(conv2d_relu, types(T: real), grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 128), blocks(out.extent(1), 64)),
            block(256), resident(8 / sizeof(compute_t<T>)))
template <class T>
__global__ void conv2d_relu(View<const T, 4> input, View<const T, 4> filters, View<const T, 1> bias, View<T, 4> out, Extents<2> padding) {
    Window window(input, filters.extent(2), filters.extent(3), Extents<2>{{1, 1}}, padding);
    check_kernel(window);
    FilterMatrix<T> left = {filters, false, true};
    Patches<T> right = {input, window, out.extent(2), out.extent(3), false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3);
    struct Channel {
        uint64_t bytes;
        compute_t<T> bias;
    };
    flat_or_tiled_product<T>(
        out.extent(1), out.extent(0) * out.extent(2) * out.extent(3), inner, left, right,
        [&](size_t channel) { return Channel{bytes_along(out, 1, channel), widen(bias.at(channel))}; },
        [&](size_t position) { return bytes_of_place(out, position); },
        [&](const Channel &channel, uint64_t position, compute_t<T> sum) {
            element_at(out.data, channel.bytes, position) = rectified<T>(sum + channel.bias);
        });
}

// The number of places of a window that have columns at the same time: a quad of columns, which one thread has.
constexpr unsigned PLACES = 4;
static_assert(EACH_COLS % PLACES == 0, "a thread has whole quads of columns");

// `Patches` with a column for each of PLACES places of each window, from place `first` on: a quad of columns for each
// window. Beyond the last window or place, the last one is repeated.
template <class T> struct PatchesOfWindows {
    static constexpr bool HAS_GAPS = false;
    Patches<T> patches;
    Extents<2> size;
    uint64_t windows, first;
    bool along_inner;

    // The window of a column, and the number of columns for all windows.
    static DAHL_DEVICE uint64_t window(size_t col) { return Way<Tile, T>::quad(col); }
    static DAHL_DEVICE uint64_t cols(uint64_t windows) {
        return ceil_div(windows, Way<Tile, T>::QUADS_BESIDE) * (Way<Tile, T>::QUADS_BESIDE * PLACES);
    }

    DAHL_DEVICE Reach outer(size_t col) const {
        uint64_t at = window(col), place = first + Way<Tile, T>::in_quad(col), places = size[0] * size[1];
        Three corner = Three::of(at < windows ? at : windows - 1, patches.rows, patches.cols);
        Division in_window = divide(place < places ? place : places - 1, size[1]);
        return patches.reach({corner.outer, corner.row * size[0] + in_window.quotient, corner.col * size[1] + in_window.remainder});
    }
    DAHL_DEVICE Tap inner(size_t inner) const { return patches.inner(inner); }
    DAHL_DEVICE T at(const Reach &position, const Tap &tap) const { return patches.at(position, tap); }
    DAHL_DEVICE T value(T element) const { return element; }
};

DAHL_KERNEL(conv2d_relu_max_pool2d, types(T: real),
            grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 32), blocks(out.extent(1), 64)), block(256),
            resident(8 / sizeof(compute_t<T>)))
template <class T>
__global__ void conv2d_relu_max_pool2d(View<const T, 4> input, View<const T, 4> filters, View<const T, 1> bias, View<T, 4> out,
                                       View<uint32_t, 4> index, Extents<2> padding, Extents<2> size) {
    using C = compute_t<T>;
    constexpr unsigned EACH_WINDOWS = EACH_COLS / PLACES;
    Window window(input, filters.extent(2), filters.extent(3), Extents<2>{{1, 1}}, padding);
    check_kernel(window);
    uint64_t rows = out.extent(2), cols = out.extent(3), channels = out.extent(1), windows = out.extent(0) * rows * cols;
    uint64_t plane_cols = input.extent(3) + 2 * padding[1] + 1 - filters.extent(3), places = size[0] * size[1];
    FilterMatrix<T> left = {filters, false, true};
    PatchesOfWindows<T> right = {{input, window, rows, cols, false}, size, windows, 0, false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3), all = right.cols(windows);
    auto thread = Way<Tile, T>::Place::of_thread();
    __shared__ Panels<Tile, T, FilterMatrix<T>, PatchesOfWindows<T>> shared;
    for_each_tile<Tile>(channels, all, [&](size_t row, size_t col) {
        C largest[EACH_ROWS][EACH_WINDOWS] = {};
        uint32_t where[EACH_ROWS][EACH_WINDOWS] = {};
        for (right.first = 0; right.first < places; right.first += PLACES) {
            C sums[EACH_ROWS][EACH_COLS];
            product_tile(shared, row, col, channels, all, 0, inner, left, right, sums);
#pragma unroll
            for (unsigned i = 0; i < EACH_ROWS; i++) {
                size_t channel = row + thread.row(i);
                if (channel >= channels) continue;
                C from_bias = widen(bias.at(channel));
#pragma unroll
                for (unsigned j = 0; j < EACH_COLS; j++) {
                    uint64_t place = right.first + j % PLACES;
                    if (place >= places) continue;
                    C sum = sums[i][j] + from_bias, &so_far = largest[i][j / PLACES];
                    if (place == 0 || (!is_nan(so_far) && (sum > so_far || is_nan(sum)))) {
                        Division in_window = divide(place, size[1]);
                        so_far = sum;
                        where[i][j / PLACES] = uint32_t(in_window.quotient * plane_cols + in_window.remainder);
                    }
                }
            }
        }
#pragma unroll
        for (unsigned j = 0; j < EACH_WINDOWS; j++) {
            uint64_t at = right.window(col + thread.col(j * PLACES));
            if (at >= windows) continue;
            Three place = Three::of(at, rows, cols);
            uint32_t first = uint32_t(place.row * size[0] * plane_cols + place.col * size[1]);
#pragma unroll
            for (unsigned i = 0; i < EACH_ROWS; i++) {
                size_t channel = row + thread.row(i);
                if (channel >= channels) continue;
                out.at(place.outer, channel, place.row, place.col) = rectified<T>(largest[i][j]);
                index.at(place.outer, channel, place.row, place.col) = first + where[i][j];
            }
        }
    });
}

// The sums of a block's part of the positions, in [out channels, taps]; `left` are gradients as a matrix [out channels, (image, place)].
template <class T, class Left>
DAHL_DEVICE void product_of_part(const View<const T, 4> &input, const View<compute_t<T>, 4> &by_filters, const Extents<2> &padding,
                                 uint64_t rows, uint64_t cols, const Left &left, compute_t<T> *parts) {
    using C = compute_t<T>;
    Window window(input, by_filters.extent(2), by_filters.extent(3), Extents<2>{{1, 1}}, padding);
    check_kernel(window);
    PatchesOfTaps<T> right = {{input, window, rows, cols, true}, true};
    Part part = Part::of_block(input.extent(0) * rows * cols);
    size_t taps = by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3);
    C *sums = parts + blockIdx.z * by_filters.len();
    tiled_product<T>(
        by_filters.extent(0), taps, part.first, part.end, left, right, [&](size_t channel) { return channel * taps; },
        [](size_t tap) { return tap; }, [&](size_t channel, size_t tap, C sum) { sums[channel + tap] = sum; });
}

// Adds the sums of all parts of `positions` to the gradient by the filters. For grid(blocks(by_filters.len(), 8)),
// block(32, 8).
template <class C> DAHL_DEVICE void add_parts(const C *parts, uint64_t positions, const View<C, 4> &by_filters) {
    uint64_t taps = by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3);
    sum_parts(parts, parts_of(by_filters.extent(0), taps, positions, 256), by_filters.len(), [&](size_t i, C sum) {
        Three tap = Three::of(i, by_filters.extent(2), by_filters.extent(3));
        Division channels = divide(tap.outer, by_filters.extent(1));
        by_filters.at(channels.quotient, channels.remainder, tap.row, tap.col) += sum;
    });
}

// The gradients that pass the rectifier, as a matrix [out channels, (image, row, col)].
template <class T> struct PassedMatrix {
    View<const T, 4> gradient, output;
    bool along_inner;

    // Byte distances in the gradient and in the output.
    struct Places {
        uint64_t gradient, output;
    };
    struct Raw {
        T gradient, output;
    };

    DAHL_DEVICE Places outer(size_t channel) const { return {bytes_along(gradient, 1, channel), bytes_along(output, 1, channel)}; }
    DAHL_DEVICE Places inner(size_t inner) const {
        return {bytes_of_place(gradient, inner), bytes_of_place(output, inner)};
    }
    DAHL_DEVICE Raw at(const Places &channel, const Places &position) const {
        return {element_at(gradient.data, channel.gradient, position.gradient), element_at(output.data, channel.output, position.output)};
    }
    DAHL_DEVICE T value(const Raw &element) const { return passed_element(element.gradient, element.output); }
};

template <class T>
__global__ void conv2d_relu_backward_parts(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                           View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Scratch scratch) {
    PassedMatrix<T> left = {gradient, output, true};
    product_of_part<T>(input, by_filters, padding, gradient.extent(2), gradient.extent(3), left, scratch.as<compute_t<T>>());
}

template <class T>
__global__ void conv2d_relu_backward_bias(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                          View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Scratch scratch) {
    add_passed<T>(gradient, output, by_bias);
}

DAHL_KERNEL(conv2d_relu_backward, types(T: real),
            let(columns = blocks(by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3), 128)),
            let(rows = blocks(by_filters.extent(0), 64)),
            let(parts = max(min(264 / (columns * rows), gradient.extent(0) * gradient.extent(2) * gradient.extent(3) / 256), 1)),
            scratch(sizeof(compute_t<T>) * by_filters.len() * parts),
            pass(conv2d_relu_backward_parts, grid(columns, rows, parts), block(256), resident(8 / sizeof(compute_t<T>))),
            pass(conv2d_relu_backward_bias, grid(blocks(by_bias.len(), 1)), block(256)),
            pass(conv2d_relu_backward, grid(blocks(by_filters.len(), 8)), block(32, 8)))
template <class T>
__global__ void conv2d_relu_backward(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                     View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Scratch scratch) {
    add_parts(scratch.as<compute_t<T>>(), gradient.extent(0) * gradient.extent(2) * gradient.extent(3), by_filters);
}

template <class T>
__global__ void bias_relu_max_pool2d_backward_by_sums(View<const T, 4> gradient, View<const T, 4> output, View<const uint32_t, 4> index,
                                                      View<T, 4> out, View<compute_t<T>, 1> by_bias, Task task) {
    unpool<T>(gradient, output, index, out.extent(2) * out.extent(3), task, task.scratch_as<compute_t<T>>(),
              [&](uint64_t image, uint64_t channel, size_t place, compute_t<T> value) {
                  Plane<T>(out, image, channel)[place] = narrow<T>(value);
              });
}

DAHL_KERNEL(bias_relu_max_pool2d_backward, types(T: real),
            scratch(sizeof(compute_t<T>) * out.extent(0) * out.extent(1)),
            pass(bias_relu_max_pool2d_backward_by_sums,
                 grid(blocks(out.extent(1), 1), min(min(8192 / (out.extent(1) + 1) + 1, 256), out.extent(0)),
                      blocks(out.extent(2) * out.extent(3), 4096)),
                 block(256)),
            pass(bias_relu_max_pool2d_backward, grid(blocks(by_bias.len(), 1)), block(256)))
template <class T>
__global__ void bias_relu_max_pool2d_backward(View<const T, 4> gradient, View<const T, 4> output, View<const uint32_t, 4> index,
                                              View<T, 4> out, View<compute_t<T>, 1> by_bias, Task task) {
    add_sums(task.scratch_as<compute_t<T>>(), parts_of_images(out.extent(0), out.extent(1)), by_bias);
}

// The gradients by the convolution's sums, in scratch memory, ordered by image, then channel.
template <class C> struct BySums {
    C *first;
    uint64_t images, channels, rows, cols;

    template <class T>
    DAHL_DEVICE BySums(const Task &task, const View<const T, 4> &input, const View<C, 4> &filters, const Extents<2> &padding)
        : first(task.scratch_as<C>()), images(input.extent(0)), channels(filters.extent(0)),
          rows(positions(input.extent(2), filters.extent(2), padding[0])), cols(positions(input.extent(3), filters.extent(3), padding[1])) {}

    DAHL_DEVICE size_t places() const { return rows * cols; }
    // The sums by channel, after all planes.
    DAHL_DEVICE C *of_channels() const { return first + images * channels * places(); }
    DAHL_DEVICE C &at(uint64_t image, uint64_t channel, size_t place) const {
        check_bounds(-1, place, places());
        return first[(image * channels + channel) * places() + place];
    }

  private:
    // 0 where the filter does not fit.
    static DAHL_DEVICE uint64_t positions(uint64_t image, uint64_t kernel, uint64_t padding) {
        uint64_t padded = image + 2 * padding;
        return padded < kernel ? 0 : padded - kernel + 1;
    }
};

// Gradients as a matrix [out channels, (image, place)]. Each is one of the pooling's, of type `T`, or 0, so none is rounded.
template <class T> struct BySumsMatrix {
    using C = compute_t<T>;
    BySums<C> by_sums;
    bool along_inner;

    // Distances in elements.
    DAHL_DEVICE uint64_t outer(size_t channel) const { return channel * by_sums.places(); }
    DAHL_DEVICE uint64_t inner(size_t inner) const {
        Division place = divide(inner, by_sums.places());
        return &by_sums.at(place.quotient, 0, place.remainder) - by_sums.first;
    }
    DAHL_DEVICE C at(uint64_t channel, uint64_t place) const { return by_sums.first[channel + place]; }
    DAHL_DEVICE T value(C element) const { return narrow<T>(element); }
};

// Where the sums of parts begin: after the gradients by the convolution's sums, for which space is reserved as for a
// kernel of one element, and after a sum for each plane.
template <class C, class T>
DAHL_DEVICE C *parts_in(const Task &task, const View<const T, 4> &input, const View<C, 4> &filters, const Extents<2> &padding) {
    size_t room = (input.extent(2) + 2 * padding[0] + 1) * (input.extent(3) + 2 * padding[1] + 1) + 1;
    return task.scratch_as<C>() + input.extent(0) * filters.extent(0) * room;
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_by_sums(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                        View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                        View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    BySums<compute_t<T>> by_sums(task, input, by_filters, padding);
    unpool<T>(gradient, output, index, by_sums.places(), task, by_sums.of_channels(),
              [&](uint64_t image, uint64_t channel, size_t place, compute_t<T> value) { by_sums.at(image, channel, place) = value; });
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_parts(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                      View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                      View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    using C = compute_t<T>;
    BySums<C> by_sums(task, input, by_filters, padding);
    BySumsMatrix<T> left = {by_sums, true};
    product_of_part<T>(input, by_filters, padding, by_sums.rows, by_sums.cols, left, parts_in<C>(task, input, by_filters, padding));
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_bias(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                     View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                     View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    BySums<compute_t<T>> by_sums(task, input, by_filters, padding);
    add_sums(by_sums.of_channels(), parts_of_images(by_sums.images, by_sums.channels), by_bias);
}

DAHL_KERNEL(conv2d_relu_max_pool2d_backward, types(T: real),
            let(columns = blocks(by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3), 128)),
            let(rows = blocks(by_filters.extent(0), 64)),
            let(parts = max(min(264 / (columns * rows), gradient.extent(0) * gradient.extent(2) * gradient.extent(3) * size[0] * size[1] / 256), 1)),
            scratch(sizeof(compute_t<T>) * (input.extent(0) * by_filters.extent(0)
                                                * ((input.extent(2) + 2 * padding[0] + 1) * (input.extent(3) + 2 * padding[1] + 1) + 1)
                                            + by_filters.len() * parts)),
            pass(conv2d_relu_max_pool2d_backward_by_sums,
                 grid(blocks(gradient.extent(1), 1), min(min(8192 / (gradient.extent(1) + 1) + 1, 256), gradient.extent(0)),
                      blocks((input.extent(2) + 2 * padding[0]) * (input.extent(3) + 2 * padding[1]), 4096)), block(256)),
            pass(conv2d_relu_max_pool2d_backward_parts, grid(columns, rows, parts), block(256), resident(8 / sizeof(compute_t<T>))),
            pass(conv2d_relu_max_pool2d_backward_bias, grid(blocks(by_bias.len(), 1)), block(256)),
            pass(conv2d_relu_max_pool2d_backward, grid(blocks(by_filters.len(), 8)), block(32, 8)))
template <class T>
__global__ void conv2d_relu_max_pool2d_backward(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    uint64_t positions = gradient.extent(0) * gradient.extent(2) * gradient.extent(3) * size[0] * size[1];
    add_parts(parts_in<compute_t<T>>(task, input, by_filters, padding), positions, by_filters);
}
