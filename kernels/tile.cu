// An array repeated along an axis, and its gradient.
//
//     tile:           out[.., r * extent + i, ..] = input[.., i, ..]       out: repeats * extent at axis
//     tile_backward:  out[.., i, ..] = sum over r of gradient[.., r * extent + i, ..]
//
// One thread for each element of the output; for the gradient it adds the copies in order, in the compute type.
// Neighbouring threads read neighbouring elements, in any copy.
#include "dahl.cuh"

using namespace dahl;

DAHL_KERNEL(tile, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void tile(View<const T, ANY> input, View<T, ANY> out, size_t axis, size_t repeats) {
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        to.at(place) = from.at(place.before, place.along % from.extent, place.after);
    }
}

DAHL_KERNEL(tile_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void tile_backward(View<const T, ANY> gradient, View<T, ANY> out, size_t axis, size_t repeats) {
    Lanes<const T> from(gradient, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        Lane<const T> lane = from.lane(place.before, place.after);
        compute_t<T> sum = 0;
        for (size_t copy = 0; copy < repeats; copy++) sum += widen(lane[copy * to.extent + place.along]);
        to.at(place) = narrow<T>(sum);
    }
}
