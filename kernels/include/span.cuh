// Windows over volumes that may differ from position to position: their maxima, their means, and the gradient of these.
//
// The windows of an operation are a struct with
//
//     Span span(int axis, uint64_t position);                   // the elements of an axis under the window there
//     void for_each_position(int axis, uint64_t at, body);      // body(position) for each window that covers element `at`
//
// One thread computes each element of the output: forward it goes over the elements under its window, backward over the
// windows that cover its element. So no two threads add to one element, and terms are added in a fixed order. Windows are
// small, and the elements that neighbours share are cached.
#pragma once

#include "extreme.cuh"
#include "volume.cuh"

namespace dahl {

// A window along one axis: its first element, the number of its elements and their distance, and by how many a sum is
// divided for a mean.
struct Span {
    uint64_t first, count, step, divisor;
};

struct Spans {
    Span of[SPATIAL];

    template <class Windows> static DAHL_DEVICE Spans at(const Windows &windows, const Spatial &position) {
        return {{windows.span(0, position[0]), windows.span(1, position[1]), windows.span(2, position[2])}};
    }

    template <class C> DAHL_DEVICE C divisor() const { return C(of[0].divisor * of[1].divisor * of[2].divisor); }

    // Calls `body` with the place of each element under the window, in row-major order.
    template <class Body> DAHL_DEVICE void for_each(Body body) const {
        for (uint64_t depth = 0; depth < of[0].count; depth++) {
            for (uint64_t row = 0; row < of[1].count; row++) {
                for (uint64_t col = 0; col < of[2].count; col++) {
                    body(Spatial{{of[0].first + depth * of[0].step, of[1].first + row * of[1].step, of[2].first + col * of[2].step}});
                }
            }
        }
    }
};

// The maxima under windows, and the places in their planes that they come from: the first of equal elements, or of NaN.
// `make(plane)` gives the windows of a plane. For grid(blocks(out.len(), 256)), block(256).
template <class T, class Make>
DAHL_DEVICE void max_of_windows(const View<const T, ANY> &input, const View<T, ANY> &out, const View<uint32_t, ANY> &index, Make make) {
    using Found = FirstExtreme<compute_t<T>, 1>;
    View<const T, VOLUMES> from = volumes(input);
    View<T, VOLUMES> to = volumes(out);
    View<uint32_t, VOLUMES> places = volumes(index);
    for_each_site(to, [&](uint64_t plane, uint64_t image, uint64_t channel, const Spatial &position) {
        Found found = Found::identity();
        Spans::at(make(plane), position).for_each([&](const Spatial &at) {
            found.add(widen(at_site(from, image, channel, at)), (at[0] * from.extents[3] + at[1]) * from.extents[4] + at[2]);
        });
        at_site(to, image, channel, position) = narrow<T>(found.value);
        at_site(places, image, channel, position) = uint32_t(found.index);
    });
}

// The means under windows. For grid(blocks(out.len(), 256)), block(256).
template <class T, class Windows>
DAHL_DEVICE void mean_of_windows(const View<const T, ANY> &input, const View<T, ANY> &out, const Windows &windows) {
    using C = compute_t<T>;
    View<const T, VOLUMES> from = volumes(input);
    View<T, VOLUMES> to = volumes(out);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &position) {
        Spans spans = Spans::at(windows, position);
        C sum = 0, divisor = spans.template divisor<C>();
        spans.for_each([&](const Spatial &at) { sum += widen(at_site(from, image, channel, at)); });
        C mean = sum / divisor;
        if (!is_finite(mean)) { // the sum may overflow where the mean does not
            mean = 0;
            spans.for_each([&](const Spatial &at) { mean += widen(at_site(from, image, channel, at)) / divisor; });
        }
        at_site(to, image, channel, position) = narrow<T>(mean);
    });
}

// The gradient of the means by the elements. For grid(blocks(out.len(), 256)), block(256).
template <class T, class Windows>
DAHL_DEVICE void mean_of_windows_backward(const View<const T, ANY> &gradient, const View<T, ANY> &out, const Windows &windows) {
    using C = compute_t<T>;
    View<const T, VOLUMES> from = volumes(gradient);
    View<T, VOLUMES> to = volumes(out);
    for_each_site(to, [&](uint64_t, uint64_t image, uint64_t channel, const Spatial &at) {
        C sum = 0;
        windows.for_each_position(0, at[0], [&](uint64_t depth) {
            windows.for_each_position(1, at[1], [&](uint64_t row) {
                windows.for_each_position(2, at[2], [&](uint64_t col) {
                    Spatial position = {{depth, row, col}};
                    sum += widen(at_site(from, image, channel, position)) / Spans::at(windows, position).template divisor<C>();
                });
            });
        });
        at_site(to, image, channel, at) = narrow<T>(sum);
    });
}

} // namespace dahl
