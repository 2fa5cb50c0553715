// Convolution with what follows it in a network, bias, rectifier and pooling, while the sums are in registers; and the gradients
// behind all three.
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
// The kernel moves by one; windows do not overlap. The sums are those of `conv2d`, in the same order (`include/product.cuh`).
//
// With pooling a tile of the product has windows in place of positions: it is computed once for each place in the window, and each
// thread keeps the largest of its own elements so far. So nothing but what is left of the windows is written.
//
// An index says nothing of the window, so any of a plane may be any place. A block takes a plane: it stages 256 indices and gradients
// at a time in shared memory, and each thread picks out those of its own places, in order. If two are the same, which those of one
// pooling never are, the later one counts, as on the CPU.
//
// The gradient by the filters is taken as in `conv2d.cu`, from gradients by the sums that a first pass leaves in scratch memory, in
// the compute type, before the parts of the product.
#include "fold.cuh"
#include "patches.cuh"

using namespace dahl;

// The largest of a rectified sum: NaN stays NaN.
template <class T> DAHL_DEVICE T rectified(compute_t<T> sum) { return narrow<T>(maximum(sum, compute_t<T>(0))); }

DAHL_KERNEL(conv2d_relu, types(T: real), grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 64), blocks(out.extent(1), 64)),
            block(16, 16))
template <class T>
__global__ void conv2d_relu(View<const T, 4> input, View<const T, 4> filters, View<const T, 1> bias, View<T, 4> out, Extents<2> padding) {
    Window window(input, filters.extent(2), filters.extent(3), Extents<2>{{1, 1}}, padding);
    uint64_t rows = out.extent(2), cols = out.extent(3);
    FilterMatrix<T> left = {filters, false, true};
    Patches<T> right = {input, window, rows, cols, false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3);
    tiled_product<compute_t<T>>(out.extent(1), out.extent(0) * rows * cols, 0, inner, left, right,
                                [&](size_t channel, size_t position, compute_t<T> sum) {
                                    Three place = Three::of(position, rows, cols);
                                    out.at(place.outer, channel, place.row, place.col) = rectified<T>(sum + widen(bias.at(channel)));
                                });
}

// `Patches` with a column for each window: the patch under the position `down` rows and `right` columns from where it begins.
template <class T> struct PatchesOfWindows {
    static constexpr bool HAS_GAPS = false;
    Patches<T> patches;
    Extents<2> size;
    uint64_t down, right;
    bool along_inner;

    DAHL_DEVICE Three outer(size_t window) const {
        Three place = patches.outer(window);
        return {place.outer, place.row * size[0] + down, place.col * size[1] + right};
    }
    DAHL_DEVICE compute_t<T> at(const Three &position, size_t inner) const { return patches.at(position, inner); }
};

DAHL_KERNEL(conv2d_relu_max_pool2d, types(T: real),
            grid(blocks(out.extent(0) * out.extent(2) * out.extent(3), 64), blocks(out.extent(1), 64)), block(16, 16))
template <class T>
__global__ void conv2d_relu_max_pool2d(View<const T, 4> input, View<const T, 4> filters, View<const T, 1> bias, View<T, 4> out,
                                       View<uint32_t, 4> index, Extents<2> padding, Extents<2> size) {
    using C = compute_t<T>;
    Window window(input, filters.extent(2), filters.extent(3), Extents<2>{{1, 1}}, padding);
    uint64_t rows = out.extent(2), cols = out.extent(3), channels = out.extent(1), windows = out.extent(0) * rows * cols;
    uint64_t plane_cols = input.extent(3) + 2 * padding[1] + 1 - filters.extent(3);
    FilterMatrix<T> left = {filters, false, true};
    PatchesOfWindows<T> right = {{input, window, rows, cols, false}, size, 0, 0, false};
    size_t inner = filters.extent(1) * filters.extent(2) * filters.extent(3);
    for_each_tile(channels, windows, [&](size_t row, size_t col) {
        C largest[TILE_EACH][TILE_EACH];
        uint32_t where[TILE_EACH][TILE_EACH] = {};
        for (right.down = 0; right.down < size[0]; right.down++) {
            for (right.right = 0; right.right < size[1]; right.right++) {
                C sums[TILE_EACH][TILE_EACH];
                product_tile<C>(row, col, channels, windows, 0, inner, left, right, sums);
                uint32_t offset = uint32_t(right.down * plane_cols + right.right);
                for_each_of_tile(row, col, channels, windows, [&](unsigned i, unsigned j, size_t channel, size_t) {
                    C sum = sums[i][j] + widen(bias.at(channel));
                    if (offset == 0 || (!is_nan(largest[i][j]) && (sum > largest[i][j] || is_nan(sum)))) {
                        largest[i][j] = sum;
                        where[i][j] = offset;
                    }
                });
            }
        }
        for_each_of_tile(row, col, channels, windows, [&](unsigned i, unsigned j, size_t channel, size_t at) {
            Three place = Three::of(at, rows, cols);
            uint32_t first = uint32_t(place.row * size[0] * plane_cols + place.col * size[1]);
            out.at(place.outer, channel, place.row, place.col) = rectified<T>(largest[i][j]);
            index.at(place.outer, channel, place.row, place.col) = first + where[i][j];
        });
    });
}

// What of a gradient passes the rectifier, whose output is given; a NaN lets it through.
template <class T> DAHL_DEVICE compute_t<T> passed(T gradient, T output) {
    return widen(output) <= compute_t<T>(0) ? compute_t<T>(0) : widen(gradient);
}

// Adds to `by_bias` what passes of each channel. For grid(blocks(channels, 1)), block(256).
template <class T>
DAHL_DEVICE void add_passed(const View<const T, 4> &gradient, const View<const T, 4> &output, const View<compute_t<T>, 1> &by_bias) {
    using S = Sum<compute_t<T>>;
    size_t cols = gradient.extent(3), places = gradient.extent(2) * cols;
    for (size_t channel = blockIdx.x; channel < by_bias.len(); channel += gridDim.x) {
        S sum = S::identity();
        for (size_t i = threadIdx.x; i < gradient.extent(0) * places; i += FOLD_THREADS) {
            Division image = divide(i, places), place = divide(image.remainder, cols);
            uint64_t n = image.quotient, row = place.quotient, col = place.remainder;
            sum.add(passed<T>(gradient.at(n, channel, row, col), output.at(n, channel, row, col)));
        }
        sum = fold_block(sum);
        if (threadIdx.x == 0) by_bias.at(channel) += sum.value;
    }
}

// In how many parts so many positions of all images are cut.
DAHL_DEVICE uint64_t parts_of(uint64_t positions) {
    uint64_t parts = blocks(positions, 1024);
    return parts < 32 ? parts : 32;
}

// The sums of a block's part of the positions, in [out channels, taps]; `left` are gradients as a matrix [out channels, (image, place)].
template <class T, class Left>
DAHL_DEVICE void product_of_part(const View<const T, 4> &input, const View<compute_t<T>, 4> &by_filters, const Extents<2> &padding,
                                 uint64_t rows, uint64_t cols, const Left &left, compute_t<T> *parts) {
    using C = compute_t<T>;
    Window window(input, by_filters.extent(2), by_filters.extent(3), Extents<2>{{1, 1}}, padding);
    PatchesOfTaps<T> right = {{input, window, rows, cols, true}, true};
    size_t inner = input.extent(0) * rows * cols, each = ceil_div(inner, gridDim.z), first = blockIdx.z * each;
    size_t end = first + each < inner ? first + each : inner;
    size_t taps = by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3);
    C *part = parts + blockIdx.z * by_filters.len();
    tiled_product<C>(by_filters.extent(0), taps, first, end, left, right,
                     [&](size_t channel, size_t tap, C sum) { part[channel * taps + tap] = sum; });
}

// Adds the sums of all parts to the gradient by the filters.
template <class C> DAHL_DEVICE void add_parts(const C *parts, uint64_t count, const View<C, 4> &by_filters) {
    for (size_t i = first_index(); i < by_filters.len(); i += grid_threads()) {
        C sum = 0;
        for (uint64_t part = 0; part < count; part++) sum += parts[part * by_filters.len() + i];
        Three tap = Three::of(i, by_filters.extent(2), by_filters.extent(3));
        Division channels = divide(tap.outer, by_filters.extent(1));
        by_filters.at(channels.quotient, channels.remainder, tap.row, tap.col) += sum;
    }
}

// What passes of gradients, as a matrix [out channels, (image, row, col)].
template <class T> struct PassedMatrix {
    View<const T, 4> gradient, output;
    bool along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return channel; }
    DAHL_DEVICE compute_t<T> at(uint64_t channel, size_t inner) const {
        Three place = Three::of(inner, gradient.extent(2), gradient.extent(3));
        return passed<T>(gradient.at(place.outer, channel, place.row, place.col), output.at(place.outer, channel, place.row, place.col));
    }
};

template <class T>
__global__ void conv2d_relu_backward_parts(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                           View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Task task) {
    PassedMatrix<T> left = {gradient, output, true};
    product_of_part<T>(input, by_filters, padding, gradient.extent(2), gradient.extent(3), left, task.scratch_as<compute_t<T>>());
}

template <class T>
__global__ void conv2d_relu_backward_bias(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                          View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Task task) {
    add_passed<T>(gradient, output, by_bias);
}

DAHL_KERNEL(conv2d_relu_backward, types(T: real),
            scratch(sizeof(compute_t<T>) * by_filters.len()
                    * min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3), 1024), 32)),
            pass(conv2d_relu_backward_parts,
                 grid(blocks(by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3), 64), blocks(by_filters.extent(0), 64),
                      min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3), 1024), 32)),
                 block(16, 16)),
            pass(conv2d_relu_backward_bias, grid(blocks(by_bias.len(), 1)), block(256)),
            pass(conv2d_relu_backward, grid(blocks(by_filters.len(), 256)), block(256)))
template <class T>
__global__ void conv2d_relu_backward(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                     View<compute_t<T>, 4> by_filters, View<compute_t<T>, 1> by_bias, Extents<2> padding, Task task) {
    add_parts(task.scratch_as<compute_t<T>>(), parts_of(gradient.extent(0) * gradient.extent(2) * gradient.extent(3)), by_filters);
}

constexpr unsigned STAGED = 256;

// `put(image, channel, place, value)` for each place of each plane of `places`: 0, and then the gradients that came there. Of one
// place all calls are by one thread. For grid(blocks(images * channels, 1)), block(256).
template <class T, class Put>
DAHL_DEVICE void unpool(const View<const T, 4> &gradient, const View<const T, 4> &output, const View<const uint32_t, 4> &index,
                        size_t places, const Task &task, Put put) {
    using C = compute_t<T>;
    __shared__ uint32_t staged_index[STAGED];
    __shared__ C staged_gradient[STAGED];
    size_t cols = gradient.extent(3), pooled = gradient.extent(2) * cols, thread = threadIdx.x;
    for (size_t plane = blockIdx.x; plane < gradient.extent(0) * gradient.extent(1); plane += gridDim.x) {
        Division at = divide(plane, gradient.extent(1));
        uint64_t image = at.quotient, channel = at.remainder;
        for (size_t place = thread; place < places; place += STAGED) put(image, channel, place, C(0));
        for (size_t first = 0; first < pooled; first += STAGED) {
            size_t count = pooled - first < STAGED ? pooled - first : STAGED;
            if (thread < count) {
                Division in_plane = divide(first + thread, cols);
                uint64_t row = in_plane.quotient, col = in_plane.remainder;
                staged_index[thread] = index.at(image, channel, row, col);
                staged_gradient[thread] = passed<T>(gradient.at(image, channel, row, col), output.at(image, channel, row, col));
                if (staged_index[thread] >= places) task.fail(plane * pooled + first + thread);
            }
            __syncthreads();
            for (size_t i = 0; i < count; i++) {
                uint32_t place = staged_index[i];
                if (place % STAGED == thread && place < places) put(image, channel, place, staged_gradient[i]);
            }
            __syncthreads();
        }
    }
}

template <class T>
__global__ void bias_relu_max_pool2d_backward_bias(View<const T, 4> gradient, View<const T, 4> output, View<const uint32_t, 4> index,
                                                   View<T, 4> out, View<compute_t<T>, 1> by_bias, Task task) {
    add_passed<T>(gradient, output, by_bias);
}

DAHL_KERNEL(bias_relu_max_pool2d_backward, types(T: real),
            pass(bias_relu_max_pool2d_backward_bias, grid(blocks(by_bias.len(), 1)), block(256)),
            pass(bias_relu_max_pool2d_backward, grid(blocks(out.extent(0) * out.extent(1), 1)), block(256)))
template <class T>
__global__ void bias_relu_max_pool2d_backward(View<const T, 4> gradient, View<const T, 4> output, View<const uint32_t, 4> index,
                                              View<T, 4> out, View<compute_t<T>, 1> by_bias, Task task) {
    unpool<T>(gradient, output, index, out.extent(2) * out.extent(3), task,
              [&](uint64_t image, uint64_t channel, size_t place, compute_t<T> value) {
                  Division in_plane = divide(place, out.extent(3));
                  out.at(image, channel, in_plane.quotient, in_plane.remainder) = narrow<T>(value);
              });
}

// The gradients by the convolution's sums, in scratch memory: those of an image and channel follow each other.
template <class C> struct BySums {
    C *first;
    uint64_t images, channels, rows, cols;

    template <class T>
    DAHL_DEVICE BySums(const Task &task, const View<const T, 4> &input, const View<C, 4> &filters, const Extents<2> &padding)
        : first(task.scratch_as<C>()), images(input.extent(0)), channels(filters.extent(0)),
          rows(positions(input.extent(2), filters.extent(2), padding[0])), cols(positions(input.extent(3), filters.extent(3), padding[1])) {}

    DAHL_DEVICE size_t places() const { return rows * cols; }
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

// Gradients as a matrix [out channels, (image, place)].
template <class C> struct BySumsMatrix {
    BySums<C> by_sums;
    bool along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return channel; }
    DAHL_DEVICE C at(uint64_t channel, size_t inner) const {
        Division place = divide(inner, by_sums.places());
        return by_sums.at(place.quotient, channel, place.remainder);
    }
};

// Where the parts' sums are: behind the gradients by the sums, for which there is room for a kernel of one element.
template <class C, class T>
DAHL_DEVICE C *parts_in(const Task &task, const View<const T, 4> &input, const View<C, 4> &filters, const Extents<2> &padding) {
    size_t room = (input.extent(2) + 2 * padding[0] + 1) * (input.extent(3) + 2 * padding[1] + 1);
    return task.scratch_as<C>() + input.extent(0) * filters.extent(0) * room;
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_by_sums(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                        View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                        View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    BySums<compute_t<T>> by_sums(task, input, by_filters, padding);
    unpool<T>(gradient, output, index, by_sums.places(), task, [&](uint64_t image, uint64_t channel, size_t place, compute_t<T> value) {
        by_sums.at(image, channel, place) = value;
    });
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_parts(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                      View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                      View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    using C = compute_t<T>;
    BySums<C> by_sums(task, input, by_filters, padding);
    BySumsMatrix<C> left = {by_sums, true};
    product_of_part<T>(input, by_filters, padding, by_sums.rows, by_sums.cols, left, parts_in<C>(task, input, by_filters, padding));
}

template <class T>
__global__ void conv2d_relu_max_pool2d_backward_bias(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                     View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                     View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    add_passed<T>(gradient, output, by_bias);
}

DAHL_KERNEL(conv2d_relu_max_pool2d_backward, types(T: real),
            scratch(sizeof(compute_t<T>) * (input.extent(0) * by_filters.extent(0) * (input.extent(2) + 2 * padding[0] + 1)
                                                * (input.extent(3) + 2 * padding[1] + 1)
                                            + by_filters.len() * min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3)
                                                                            * size[0] * size[1], 1024), 32))),
            pass(conv2d_relu_max_pool2d_backward_by_sums, grid(blocks(gradient.extent(0) * gradient.extent(1), 1)), block(256)),
            pass(conv2d_relu_max_pool2d_backward_parts,
                 grid(blocks(by_filters.extent(1) * by_filters.extent(2) * by_filters.extent(3), 64), blocks(by_filters.extent(0), 64),
                      min(blocks(gradient.extent(0) * gradient.extent(2) * gradient.extent(3) * size[0] * size[1], 1024), 32)),
                 block(16, 16)),
            pass(conv2d_relu_max_pool2d_backward_bias, grid(blocks(by_bias.len(), 1)), block(256)),
            pass(conv2d_relu_max_pool2d_backward, grid(blocks(by_filters.len(), 256)), block(256)))
template <class T>
__global__ void conv2d_relu_max_pool2d_backward(View<const T, 4> input, View<const T, 4> gradient, View<const T, 4> output,
                                                View<const uint32_t, 4> index, View<compute_t<T>, 4> by_filters,
                                                View<compute_t<T>, 1> by_bias, Extents<2> padding, Extents<2> size, Task task) {
    uint64_t positions = gradient.extent(0) * gradient.extent(2) * gradient.extent(3) * size[0] * size[1];
    add_parts(parts_in<compute_t<T>>(task, input, by_filters, padding), parts_of(positions), by_filters);
}
