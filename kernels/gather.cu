// Elements at given indices along an axis, and the gradients, which scatter.
//
//     gather:        out[i, .., j] = input[i, .., index[i, .., j], .., j]     index as out, no longer than input but along axis
//     index_select:  out[.., i, ..] = input[.., indices[i], ..]               indices: [count], out: extent count at axis
//     .._backward:   out += the gradient, each element at the place that it was taken from
//
// Forward, one thread computes each element of the output. Backward, several elements may be added to one place. Atomic
// additions would happen in any order and give different bits in each run; so one thread owns each place and adds its
// terms in the order of the indices. A thread owns one lane along the axis (neighbouring threads have neighbouring
// lanes, so their accesses coalesce) and an eighth of the places in it; it skips the indices of places that other
// threads own. An index out of range fails the task.
#include "dahl.cuh"

using namespace dahl;

// `array` cut to the extents of `other`, except along `axis`: the part that indices can reach.
template <class T, class U>
DAHL_DEVICE View<T, ANY> reached(View<T, ANY> array, const View<U, ANY> &other, size_t axis) {
#pragma unroll
    for (int other_axis = 0; other_axis < MAX_RANK; other_axis++) {
        if (other_axis < array.rank() && size_t(other_axis) != axis) array.extents[other_axis] = other.extents[other_axis];
    }
    return array;
}

DAHL_KERNEL(gather, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void gather(View<const T, ANY> input, View<const uint32_t, ANY> index, View<T, ANY> out, size_t axis, Task task) {
    View<const T, ANY> part = reached(input, index, axis);
    Lanes<const T> from(part, axis);
    Lanes<const uint32_t> indices(index, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        uint32_t along = indices.at(place);
        if (along < from.extent) {
            to.at(place) = from.at(place.before, along, place.after);
        } else {
            task.fail(i);
        }
    }
}

DAHL_KERNEL(index_select, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void index_select(View<const T, ANY> input, View<const uint32_t, 1> indices, View<T, ANY> out, size_t axis, Task task) {
    Lanes<const T> from(input, axis);
    Lanes<T> to(out, axis);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        uint32_t along = indices.at(place.along);
        if (along < from.extent) {
            to.at(place) = from.at(place.before, along, place.after);
        } else {
            task.fail(place.along);
        }
    }
}

// The places `first..end` of share `blockIdx.y` of `gridDim.y`.
struct Share {
    size_t first, end;

    explicit DAHL_DEVICE Share(size_t extent) {
        size_t each = ceil_div(extent, gridDim.y);
        first = blockIdx.y * each;
        end = first + each < extent ? first + each : extent;
    }
    DAHL_DEVICE bool has(size_t place) const { return place >= first && place < end; }
};

DAHL_KERNEL(gather_backward, types(T: real), grid(blocks(index.len(), 256), 8), block(256))
template <class T>
__global__ void gather_backward(View<const T, ANY> gradient, View<const uint32_t, ANY> index, View<compute_t<T>, ANY> out,
                                size_t axis, Task task) {
    Lanes<const T> gradients(gradient, axis);
    Lanes<const uint32_t> indices(index, axis);
    View<compute_t<T>, ANY> part = reached(out, index, axis);
    Lanes<compute_t<T>> sums(part, axis);
    Share share(sums.extent);
    for (size_t i = first_index(); i < indices.count(); i += grid_threads()) {
        Lane<const T> from = gradients[i];
        Lane<const uint32_t> places = indices[i];
        Lane<compute_t<T>> to = sums[i];
        for (size_t along = 0; along < indices.extent; along++) {
            uint32_t place = places[along];
            if (place >= sums.extent) {
                task.fail((i / indices.after * indices.extent + along) * indices.after + i % indices.after);
            } else if (share.has(place)) {
                to[place] += widen(from[along]);
            }
        }
    }
}

DAHL_KERNEL(index_select_backward, types(T: real), grid(blocks(out.len(), 256), 8), block(256))
template <class T>
__global__ void index_select_backward(View<const T, ANY> gradient, View<const uint32_t, 1> indices,
                                      View<compute_t<T>, ANY> out, size_t axis, Task task) {
    Lanes<const T> gradients(gradient, axis);
    Lanes<compute_t<T>> sums(out, axis);
    Share share(sums.extent);
    for (size_t i = first_index(); i < sums.count(); i += grid_threads()) {
        Lane<const T> from = gradients[i];
        Lane<compute_t<T>> to = sums[i];
        for (size_t along = 0; along < indices.extent(0); along++) {
            uint32_t place = indices.at(along);
            if (place >= sums.extent) {
                task.fail(along);
            } else if (share.has(place)) {
                to[place] += widen(from[along]);
            }
        }
    }
}
