// Where along an axis the extremes are.
//
//     arg_max, arg_min:  out[.., 0, ..] = the index along axis of the largest or smallest element of input: of the first
//                        of equal ones, and of the first NaN, which counts as more extreme than everything
//
// Lanes are divided as for `max_axis` (`include/lanes.cuh`). The accumulator is a value with its index: of equal values
// the lower index wins, so that the result does not depend on how threads share a lane.
#include "extreme.cuh"
#include "lanes.cuh"

using namespace dahl;

template <int sign, class T>
DAHL_DEVICE void find_along(const View<const T, ANY> &input, const View<uint32_t, ANY> &out, size_t axis) {
    Lanes<const T> lanes(input, axis);
    Elements<uint32_t> indices(out);
    using Found = FirstExtreme<compute_t<T>, sign>;
    fold_lanes<Found>(
        lanes.count(), lanes.extent, lanes.after, [&](size_t lane) { return lanes[lane]; },
        [](Found &found, const Lane<const T> &lane, size_t i) { found.add(widen(lane[i]), i); },
        [&](size_t lane, const Found &found) { indices[lane] = uint32_t(found.index); });
}

DAHL_KERNEL(arg_max, types(T: element), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void arg_max(View<const T, ANY> input, View<uint32_t, ANY> out, size_t axis) {
    find_along<1>(input, out, axis);
}

DAHL_KERNEL(arg_min, types(T: element), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void arg_min(View<const T, ANY> input, View<uint32_t, ANY> out, size_t axis) {
    find_along<-1>(input, out, axis);
}
