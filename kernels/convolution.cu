// Convolution over one, two or three spatial axes, with stride, padding, dilation and groups, and its gradients.
//
//     convolution:                   out[n, f, p] = sum over i, t of filters[f, i, t] * input[n, g + i, p * stride + t * dilation - padding]
//     convolution_backward_input:    out[n, g + i, q] = sum over f, t of filters[f, i, t] * gradient[n, f, p]
//     convolution_backward_filters:  out[f, i, t] += sum over n, p of gradient[n, f, p] * input[n, g + i, q]
//
// where p, q and t have a coordinate along each spatial axis, q = p * stride + t * dilation - padding, and g is the first
// channel of the filter's group; outside of the input there are zeros.
//
// As in `conv2d.cu`, each is a product of two matrices for each group, halves by tensor cores, of which the matrix of
// patches never exists in memory: the factors (`include/volume_patches.cuh`) are asked for the elements of a tile. A
// block(256) computes a tile of 64 x 128 (channels x positions); grid.z goes over the groups. Each element of the input is
// read once for every kernel element that covers it and every 64 channels of the output, mostly from the cache. One thread
// owns each element of the output and adds its terms in a fixed order: the gradient by the input gathers from the positions
// that reach an element.
//
// Groups of few output channels, as those of a depthwise convolution, would leave most of a tile empty. There a thread
// computes an element of the output by a loop over the kernel, and, for the gradient by the filters, a block or a warp folds
// the positions of a kernel element.
#include "parts.cuh"
#include "volume_patches.cuh"

using namespace dahl;

// Groups of fewer channels than this are not computed in tiles. The launch of the gradient by the filters repeats it.
constexpr unsigned LEAST_CHANNELS = 4;

// The kernel's way, and the channels of a group.
struct Groups {
    Slides slides;
    size_t groups, in_channels, out_channels;

    template <class T, class U>
    DAHL_DEVICE Groups(const View<T, VOLUMES> &input, const View<U, VOLUMES> &filters, const Extents<ANY> &stride,
                       const Extents<ANY> &padding, const Extents<ANY> &dilation, size_t groups)
        : slides{Spatial::extents(input), Spatial::extents(filters), Spatial::given(stride, 1), Spatial::given(padding, 0),
                 Spatial::given(dilation, 1)},
          groups(groups), in_channels(filters.extents[1]), out_channels(filters.extents[0] / groups) {
        check_kernel(slides);
    }

    template <class T> DAHL_DEVICE View<T, VOLUMES> of_input(const View<T, VOLUMES> &view, size_t group) const {
        return channels_of(view, 1, group * in_channels, in_channels);
    }
    template <class T> DAHL_DEVICE View<T, VOLUMES> of_output(const View<T, VOLUMES> &view, size_t group) const {
        return channels_of(view, 1, group * out_channels, out_channels);
    }
    template <class T> DAHL_DEVICE View<T, VOLUMES> of_filters(const View<T, VOLUMES> &view, size_t group) const {
        return channels_of(view, 0, group * out_channels, out_channels);
    }
};

DAHL_KERNEL(convolution, types(T: real),
            grid(blocks(out.len() / max(out.extent(1), 1), 128), blocks(out.extent(1) / groups, 64), blocks(groups, 1)), block(256))
template <class T>
__global__ void convolution(View<const T, ANY> input, View<const T, ANY> filters, View<T, ANY> out, Extents<ANY> stride,
                            Extents<ANY> padding, Extents<ANY> dilation, size_t groups) {
    using C = compute_t<T>;
    View<const T, VOLUMES> images = volumes(input), kernels = volumes(filters);
    View<T, VOLUMES> outs = volumes(out);
    Groups all(images, kernels, stride, padding, dilation, groups);
    const Slides &slides = all.slides;
    Spatial positions = Spatial::extents(outs);
    if (all.out_channels < LEAST_CHANNELS) {
        for_each_site(outs, [&](uint64_t, uint64_t image, uint64_t filter, const Spatial &position) {
            size_t group = filter / all.out_channels;
            C sum = 0;
            for (size_t channel = 0; channel < all.in_channels; channel++) {
                // Padding is zeros, and counts: an infinite filter times zero is NaN.
                for_each_tap(
                    slides.kernel, {{~uint64_t(0), ~uint64_t(0), ~uint64_t(0)}}, [](int, uint64_t tap) { return tap; },
                    [&](const Spatial &tap, const Spatial &) {
                        Spatial source;
                        bool is_inside = true;
#pragma unroll
                        for (int axis = 0; axis < SPATIAL; axis++) {
                            source.of[axis] = slides.source(axis, position[axis], tap[axis]);
                            is_inside &= source[axis] < slides.extent[axis];
                        }
                        C value = is_inside ? widen(at_site(images, image, group * all.in_channels + channel, source)) : C(0);
                        sum = multiply_add(widen(at_site(kernels, filter, channel, tap)), value, sum);
                    });
            }
            at_site(outs, image, filter, position) = narrow<T>(sum);
        });
        return;
    }
    for (size_t group = blockIdx.z; group < groups; group += gridDim.z) {
        FilterMatrix<T> left = {all.of_filters(kernels, group), false, true};
        Patches<T> right = {all.of_input(images, group), slides, positions, false};
        View<T, VOLUMES> of_group = all.of_output(outs, group);
        flat_or_tiled_product<T>(
            all.out_channels, outs.extents[0] * positions.product(), all.in_channels * slides.kernel.product(), left, right,
            [&](size_t channel) { return bytes_along(of_group, 1, channel); }, [&](size_t position) { return bytes_of_site(of_group, position); },
            [&](uint64_t channel, uint64_t position, C sum) { element_at(of_group.data, channel, position) = narrow<T>(sum); });
    }
}

DAHL_KERNEL(convolution_backward_input, types(T: real),
            grid(blocks(out.len() / max(out.extent(1), 1), 128), blocks(filters.extent(1), 64), blocks(groups, 1)), block(256))
template <class T>
__global__ void convolution_backward_input(View<const T, ANY> gradient, View<const T, ANY> filters, View<T, ANY> out,
                                           Extents<ANY> extents, Extents<ANY> stride, Extents<ANY> padding, Extents<ANY> dilation,
                                           size_t groups) {
    using C = compute_t<T>;
    View<const T, VOLUMES> gradients = volumes(gradient), kernels = volumes(filters);
    View<T, VOLUMES> outs = volumes(out);
    Groups all(outs, kernels, stride, padding, dilation, groups);
    const Slides &slides = all.slides;
    if (all.in_channels < LEAST_CHANNELS) {
        for_each_site(outs, [&](uint64_t, uint64_t image, uint64_t into, const Spatial &at) {
            Division group = divide(into, all.in_channels);
            C sum = 0;
            for (size_t channel = group.quotient * all.out_channels; channel < (group.quotient + 1) * all.out_channels; channel++) {
                for_each_tap(
                    slides.kernel, Spatial::extents(gradients),
                    [&](int axis, uint64_t tap) { return slides.position(axis, at[axis], tap); },
                    [&](const Spatial &tap, const Spatial &position) {
                        C value = widen(at_site(gradients, image, channel, position));
                        sum = multiply_add(widen(at_site(kernels, channel, group.remainder, tap)), value, sum);
                    });
            }
            at_site(outs, image, into, at) = narrow<T>(sum);
        });
        return;
    }
    for (size_t group = blockIdx.z; group < groups; group += gridDim.z) {
        FilterMatrix<T> left = {all.of_filters(kernels, group), true, true};
        Reaches<T> right(all.of_output(gradients, group), slides);
        View<T, VOLUMES> of_group = all.of_input(outs, group);
        flat_or_tiled_product<T>(
            all.in_channels, outs.extents[0] * slides.extent.product(), all.out_channels * slides.kernel.product(), left, right,
            [&](size_t channel) { return bytes_along(of_group, 1, channel); }, [&](size_t element) { return bytes_of_site(of_group, element); },
            [&](uint64_t channel, uint64_t element, C sum) { element_at(of_group.data, channel, element) = narrow<T>(sum); });
    }
}

// The positions are split into parts, as in `conv2d.cu`: grid.z goes over these, and a block over the tiles of all groups.
template <class T>
__global__ void convolution_backward_filters_parts(View<const T, ANY> input, View<const T, ANY> gradient, View<compute_t<T>, ANY> out,
                                                   Extents<ANY> kernel, Extents<ANY> stride, Extents<ANY> padding,
                                                   Extents<ANY> dilation, size_t groups, Scratch scratch) {
    using C = compute_t<T>;
    View<const T, VOLUMES> images = volumes(input), gradients = volumes(gradient);
    View<C, VOLUMES> outs = volumes(out);
    Groups all(images, outs, stride, padding, dilation, groups);
    Spatial positions = Spatial::extents(gradients);
    Part part = Part::of_block(gradients.extents[0] * positions.product());
    size_t taps = all.in_channels * all.slides.kernel.product();
    C *sums = scratch.as<C>() + blockIdx.z * outs.len();
    for (size_t group = 0; group < groups; group++) {
        GradientMatrix<T> left = {all.of_output(gradients, group), true};
        PatchesOfTaps<T> right = {{all.of_input(images, group), all.slides, positions, true}, true};
        C *of_group = sums + group * all.out_channels * taps;
        tiled_product<T>(
            all.out_channels, taps, part.first, part.end, left, right, [&](size_t channel) { return channel * taps; },
            [](size_t tap) { return tap; }, [&](size_t channel, size_t tap, C sum) { of_group[channel + tap] = sum; });
    }
}

DAHL_KERNEL(convolution_backward_filters, types(T: real),
            let(columns = blocks(out.len() / max(out.extent(0), 1), 128)),
            let(rows = blocks(out.extent(0) / groups, 64)),
            let(parts = max(min(264 / (columns * rows), gradient.len() / max(gradient.extent(1), 1) / 256), 1)),
            let(is_tiled = min(out.extent(0) / groups / LEAST_CHANNELS, 1)),
            scratch(sizeof(compute_t<T>) * out.len() * is_tiled * parts),
            pass(convolution_backward_filters_parts, grid(columns, rows, parts * is_tiled), block(256)),
            pass(convolution_backward_filters, grid(blocks(out.len(), 8)), block(32, 8)))
template <class T>
__global__ void convolution_backward_filters(View<const T, ANY> input, View<const T, ANY> gradient, View<compute_t<T>, ANY> out,
                                             Extents<ANY> kernel, Extents<ANY> stride, Extents<ANY> padding, Extents<ANY> dilation,
                                             size_t groups, Scratch scratch) {
    using C = compute_t<T>;
    View<const T, VOLUMES> images = volumes(input), gradients = volumes(gradient);
    View<C, VOLUMES> outs = volumes(out);
    Groups all(images, outs, stride, padding, dilation, groups);
    const Slides &slides = all.slides;
    Spatial positions = Spatial::extents(gradients);
    uint64_t count = gradients.extents[0] * positions.product(), taps = all.in_channels * slides.kernel.product();
    // An element of the output: a filter, and, packed in one index, its channel and place in the kernel.
    auto add = [&](size_t i, C sum) {
        Site tap = Site::of(i, slides.kernel);
        Division channels = divide(tap.outer, all.in_channels);
        at_site(outs, channels.quotient, channels.remainder, tap.at) += sum;
    };
    if (all.out_channels >= LEAST_CHANNELS) {
        sum_parts(scratch.as<C>(), parts_of(all.out_channels, taps, count, 256), outs.len(), add);
        return;
    }
    fold_lanes<Sum<C>>(
        outs.len(), count, 1, [&](size_t i) { return Site::of(i, slides.kernel); },
        [&](auto &sum, const Site &tap, size_t index) {
            Site site = Site::of(index, positions);
            Division channels = divide(tap.outer, all.in_channels);
            size_t group = channels.quotient / all.out_channels;
            Spatial source;
            bool is_inside = true;
#pragma unroll
            for (int axis = 0; axis < SPATIAL; axis++) {
                source.of[axis] = slides.source(axis, site.at[axis], tap.at[axis]);
                is_inside &= source[axis] < slides.extent[axis];
            }
            C value = is_inside ? widen(at_site(images, site.outer, group * all.in_channels + channels.remainder, source)) : C(0);
            sum.value = multiply_add(widen(at_site(gradients, site.outer, channels.quotient, site.at)), value, sum.value);
        },
        [&](size_t i, const auto &sum) { add(i, sum.value); });
}
