// A convolution over one to three spatial axes as a product of matrices, of which the matrix of patches is never in memory:
// the factors (`product.cuh`). `patches.cuh` has those of images, whose indices take fewer divisions.
#pragma once

#include "product.cuh"
#include "volume.cuh"

namespace dahl {

// A kernel element as an inner index of a product: its number along each axis, and the distance in bytes that it adds to
// that of a position.
struct Tap {
    uint64_t bytes;
    uint32_t at[SPATIAL];
};

// A position, or an element of the input: the kernel elements that lie on an element of the array, and the distance in bytes
// that their distances are added to.
struct Reach {
    uint64_t bytes;
    uint32_t first[SPATIAL], count[SPATIAL];

    DAHL_DEVICE bool has(const Tap &tap) const {
        bool is_inside = true;
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) is_inside &= tap.at[axis] - first[axis] < count[axis];
        return is_inside;
    }
    DAHL_DEVICE void set(int axis, uint64_t begin, uint64_t end) {
        first[axis] = uint32_t(begin), count[axis] = begin < end ? uint32_t(end - begin) : 0;
    }
};

// Stops if the kernel's elements cannot be numbered in 31 bits: an element of the output would be a sum of more products.
DAHL_DEVICE void check_kernel(const Slides &slides) {
#pragma unroll
    for (int axis = 0; axis < SPATIAL; axis++) {
        if (slides.kernel[axis] >> 31 != 0) out_of_bounds(axis, slides.kernel[axis], uint64_t(1) << 31);
    }
}

// The distance in bytes of an outer index and a place, packed in one index.
template <class T> DAHL_DEVICE uint64_t bytes_of_site(const View<T, VOLUMES> &view, uint64_t index) {
    Site site = Site::of(index, Spatial::extents(view));
    uint64_t bytes = bytes_along(view, 0, site.outer);
#pragma unroll
    for (int axis = 0; axis < SPATIAL; axis++) bytes += bytes_along(view, 2 + axis, site.at[axis]);
    return bytes;
}

// Filters of a group as a matrix [out channels, (in channel, ..kernel)], or, `by_input`, [in channels, (out channel, ..)].
template <class T> struct FilterMatrix {
    View<const T, VOLUMES> filters;
    bool by_input, along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return bytes_along(filters, by_input ? 1 : 0, channel); }
    DAHL_DEVICE uint64_t inner(size_t inner) const {
        Site tap = Site::of(inner, Spatial::extents(filters));
        uint64_t bytes = bytes_along(filters, by_input ? 0 : 1, tap.outer);
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) bytes += bytes_along(filters, 2 + axis, tap.at[axis]);
        return bytes;
    }
    DAHL_DEVICE T at(uint64_t channel, uint64_t tap) const { return element_at(filters.data, channel, tap); }
    DAHL_DEVICE T value(T element) const { return element; }
};

// The input of a group as a matrix [(image, ..position), (channel, ..kernel)]: the patch under each position.
template <class T> struct Patches {
    static constexpr bool HAS_GAPS = false; // padding is zeros, and counts
    View<const T, VOLUMES> input;
    Slides slides;
    Spatial positions;
    bool along_inner;

    DAHL_DEVICE Reach outer(size_t index) const {
        Site position = Site::of(index, positions);
        Reach reach = {bytes_along(input, 0, position.outer), {}, {}};
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            uint64_t start = position.at[axis] * slides.stride[axis], padding = slides.padding[axis];
            reach.bytes += (start - padding) * uint64_t(input.strides[2 + axis]) * sizeof(T);
            reach.set(axis, slides.taps_before(axis, start, padding), slides.taps_before(axis, start, padding + slides.extent[axis]));
        }
        return reach;
    }
    DAHL_DEVICE Tap inner(size_t inner) const {
        Site site = Site::of(inner, slides.kernel);
        Tap tap = {bytes_along(input, 1, site.outer), {}};
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            tap.bytes += site.at[axis] * slides.dilation[axis] * uint64_t(input.strides[2 + axis]) * sizeof(T);
            tap.at[axis] = uint32_t(site.at[axis]);
        }
        return tap;
    }
    DAHL_DEVICE T at(const Reach &position, const Tap &tap) const {
        return position.has(tap) ? element_at(input.data, position.bytes, tap.bytes) : T{};
    }
    DAHL_DEVICE T value(T element) const { return element; }
};

// `Patches` transposed: kernel elements are the outer dimension, and positions are summed over.
template <class T> struct PatchesOfTaps {
    static constexpr bool HAS_GAPS = false;
    Patches<T> patches;
    bool along_inner;

    DAHL_DEVICE Tap outer(size_t tap) const { return patches.inner(tap); }
    DAHL_DEVICE Reach inner(size_t position) const { return patches.outer(position); }
    DAHL_DEVICE T at(const Tap &tap, const Reach &position) const { return patches.at(position, tap); }
    DAHL_DEVICE T value(T element) const { return element; }
};

// The gradients of a group as a matrix [(image, ..element of the input), (out channel, ..kernel)]: for each element and
// kernel element, the gradient of the position from which the one reaches the other.
//
// Kernel element t reaches element q from position (q + padding - t * dilation) / stride, if that is an integer. If t does,
// so does t + period, where period = stride / gcd(stride, dilation), from a position that is dilation / gcd before. So kernel
// elements are numbered by their remainder modulo the period first, and those that reach an element are consecutive.
template <class T> struct Reaches {
    static constexpr bool HAS_GAPS = true; // where a kernel element reaches the element from no position
    View<const T, VOLUMES> gradient;
    Slides slides;
    Spatial period, back;
    bool along_inner;

    DAHL_DEVICE Reaches(const View<const T, VOLUMES> &gradient, const Slides &slides)
        : gradient(gradient), slides(slides), period(), back(), along_inner(false) {
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            uint64_t divisor = slides.stride[axis], other = slides.dilation[axis];
            while (other != 0) {
                uint64_t rest = divisor % other;
                divisor = other, other = rest;
            }
            period.of[axis] = slides.stride[axis] / divisor, back.of[axis] = slides.dilation[axis] / divisor;
        }
    }

    DAHL_DEVICE Reach outer(size_t index) const {
        Site element = Site::of(index, slides.extent);
        Reach reach = {bytes_along(gradient, 0, element.outer), {}, {}};
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            uint64_t start = element.at[axis] + slides.padding[axis];
            // The first kernel element that reaches it from anywhere, be it before the first position.
            uint64_t rest = 0, stride = slides.stride[axis], step = slides.dilation[axis], kernel = slides.kernel[axis];
            uint64_t least = kernel < period[axis] ? kernel : period[axis];
            while (rest < least && (int64_t(start) - int64_t(rest * step)) % int64_t(stride) != 0) rest++;
            if (rest == least) {
                reach.set(axis, 0, 0);
                continue;
            }
            int64_t position = (int64_t(start) - int64_t(rest * step)) / int64_t(stride);
            // Of the elements `rest + k * period`, those whose position is one: `position - k * back`.
            uint64_t all = of_rest(axis), these = divide(kernel - rest + period[axis] - 1, period[axis]).quotient;
            int64_t positions = int64_t(gradient.extents[2 + axis]);
            uint64_t skipped = position < positions ? 0 : ceil_div(uint64_t(position - positions + 1), back[axis]);
            uint64_t end = position < 0 ? 0 : divide(uint64_t(position), back[axis]).quotient + 1;
            end = end < these ? end : these;
            reach.set(axis, all * rest + skipped, all * rest + end);
            reach.bytes += uint64_t(position) * uint64_t(gradient.strides[2 + axis]) * sizeof(T);
        }
        return reach;
    }
    DAHL_DEVICE Tap inner(size_t inner) const {
        Site site = Site::of(inner, slides.kernel);
        Tap tap = {bytes_along(gradient, 1, site.outer), {}};
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            Division of = divide(site.at[axis], period[axis]);
            tap.bytes -= of.quotient * back[axis] * uint64_t(gradient.strides[2 + axis]) * sizeof(T);
            tap.at[axis] = uint32_t(of_rest(axis) * of.remainder + of.quotient);
        }
        return tap;
    }
    DAHL_DEVICE T at(const Reach &element, const Tap &tap) const {
        return element.has(tap) ? element_at(gradient.data, element.bytes, tap.bytes) : T{};
    }
    DAHL_DEVICE T value(T element) const { return element; }
    DAHL_DEVICE bool is_gap(const Reach &element, const Tap &tap) const { return !element.has(tap); }

  private:
    // The largest number of kernel elements with one remainder.
    DAHL_DEVICE uint64_t of_rest(int axis) const { return ceil_div(slides.kernel[axis], period[axis]); }
};

// The gradients of a group as a matrix [out channels, (image, ..position)].
template <class T> struct GradientMatrix {
    View<const T, VOLUMES> gradient;
    bool along_inner;

    DAHL_DEVICE uint64_t outer(size_t channel) const { return bytes_along(gradient, 1, channel); }
    DAHL_DEVICE uint64_t inner(size_t inner) const { return bytes_of_site(gradient, inner); }
    DAHL_DEVICE T at(uint64_t channel, uint64_t position) const { return element_at(gradient.data, channel, position); }
    DAHL_DEVICE T value(T element) const { return element; }
};

} // namespace dahl
