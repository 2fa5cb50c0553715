// Planes: an array `[batch, channels, ..]` of any rank, element by element of what one channel of one image has.
#pragma once

#include "dahl.cuh"

namespace dahl {

// An array `[batch, channels, ..]`; a plane is what one channel of one image has.
template <class T> struct Planes {
    const View<T, ANY> &view; // the kernel's own, as of `Elements`
    size_t batch, channels, plane;
    bool contiguous;

    explicit DAHL_DEVICE Planes(const View<T, ANY> &view)
        : view(view), batch(view.extent(0)), channels(view.extent(1)), plane(view.extents_product(2, view.rank())),
          contiguous(view.is_contiguous()) {}
    explicit Planes(View<T, ANY> &&) = delete;

    DAHL_DEVICE T &at(size_t image, size_t channel, size_t i) const {
        check_bounds(0, image, batch);
        check_bounds(1, channel, channels);
        if (contiguous) return view.data[(image * channels + channel) * plane + i];
        return view.data[int64_t(image) * view.stride(0) + int64_t(channel) * view.stride(1) + view.place(i, 2, view.rank())];
    }
};

} // namespace dahl
