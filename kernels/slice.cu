// A range of indices along an axis as an array of its own, and its gradient.
//
//     slice:           out[.., i, ..] = input[.., start + i, ..]         out as input, with extent len at axis
//     slice_backward:  out[.., start + i, ..] = gradient[.., i, ..], 0 elsewhere
//
// One thread for each element of the output. It finds its place by two divisions, which are hidden behind the latency
// of memory; neighbouring threads have neighbouring elements on both sides.
#include "dahl.cuh"

using namespace dahl;

DAHL_KERNEL(slice, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void slice(View<const T, ANY> input, View<T, ANY> out, size_t axis, size_t start, size_t len) {
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        to.at(place) = from.at(place.before, start + place.along, place.after);
    }
}

DAHL_KERNEL(slice_backward, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void slice_backward(View<const T, ANY> gradient, View<T, ANY> out, size_t axis, size_t start) {
    Lanes<const T> from(gradient, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        bool is_inside = place.along >= start && place.along - start < from.extent;
        to.at(place) = is_inside ? from.at(place.before, place.along - start, place.after) : T{};
    }
}
