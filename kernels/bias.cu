// A vector added along an axis, and its gradient.
//
//     bias:           out[b, i, a] = input[b, i, a] + bias[i]             i along axis, b before it, a after it
//     bias_backward:  out[i] += sum over b and a of gradient[b, i, a]
//
// The first is like `copy` (`copy.cu`): 16 bytes for each thread where arrays are contiguous. A thread computes the
// index along the axis once for all elements of a chunk. The second folds, for each `i`, the elements at this index of
// the axis: runs of `after` elements, along which a block reads; or, if the axis is the last, elements in neighbouring
// columns, down which threads go.
#include "chunk.cuh"
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

DAHL_KERNEL(bias, types(T: real), grid(blocks(out.len(), 1024)), block(256))
template <class T> __global__ void bias(View<const T, ANY> input, View<const T, 1> bias, View<T, ANY> out, size_t axis) {
    Elements<const T> from(input);
    Elements<T> to(out);
    Lanes<T> lanes(out, axis);
    size_t done = 0;
    if (Chunk::fits(from) && Chunk::fits(to)) {
        size_t chunks = to.len / EACH<T>;
        for (size_t i = first_index(); i < chunks; i += grid_threads()) {
            T items[EACH<T>];
            load_chunk(from.view.data + i * EACH<T>, items);
            Position place = lanes.position(i * EACH<T>);
            compute_t<T> added = widen(bias.at(place.along));
#pragma unroll
            for (unsigned item = 0; item < EACH<T>; item++) {
                items[item] = narrow<T>(widen(items[item]) + added);
                if (item + 1 == EACH<T> || ++place.after < lanes.after) continue;
                place.after = 0;
                if (++place.along == lanes.extent) place.along = 0;
                added = widen(bias.at(place.along));
            }
            store_chunk(to.view.data + i * EACH<T>, items);
        }
        done = chunks * EACH<T>;
    }
    for (size_t i = done + first_index(); i < to.len; i += grid_threads()) {
        to[i] = narrow<T>(widen(from[i]) + widen(bias.at(lanes.position(i).along)));
    }
}

// The elements at one index of the axis, in row-major order, as `fold_share` reads them.
template <class T> struct ReadIndex {
    const Elements<const T> &elements;
    size_t along, extent, after;
    bool at_once, in_line;

    DAHL_DEVICE size_t place(size_t i) const {
        if (after == 1) return i * extent + along;
        Division at = divide(i, after);
        return (at.quotient * extent + along) * after + at.remainder;
    }
    DAHL_DEVICE T operator[](size_t i) const { return elements[place(i)]; }
    DAHL_DEVICE T line(size_t i) const { return elements[place(i)]; }
    DAHL_DEVICE const T *chunk(size_t start) const { return elements.view.data + place(start); }
};

// All indices of the axis, as lanes for `fold_lanes_of`.
template <class T> struct ReadIndices {
    const Elements<const T> &elements;
    // The axis's length; the number of elements at each index of it; the number of indices adjacent in memory, as
    // `fold_lanes_of` needs it.
    size_t indices, extent, after;
    // The length of the runs of one index, in elements.
    size_t run;

    DAHL_DEVICE ReadIndices(const Elements<const T> &elements, const Lanes<const T> &lanes)
        : elements(elements), indices(lanes.extent), extent(lanes.count()), after(lanes.after == 1 ? lanes.extent : 1), run(lanes.after) {}

    DAHL_DEVICE size_t count() const { return indices; }
    DAHL_DEVICE ReadIndex<T> read(size_t along) const {
        return {elements, along, indices, run, Chunk::fits(elements) && run % EACH<T> == 0, elements.contiguous};
    }
    DAHL_DEVICE bool are_in_chunks() const { return Chunk::fits(elements) && run == 1 && indices % EACH<T> == 0; }
};

template <Pass pass, class T>
DAHL_DEVICE void sum_at_indices(const View<const T, ANY> &gradient, const View<compute_t<T>, 1> &out, size_t axis, const Scratch &scratch) {
    Elements<const T> elements(gradient);
    Lanes<const T> lanes(gradient, axis);
    fold_lanes_of<Sum<compute_t<T>>, pass, T>(
        ReadIndices<T>(elements, lanes), scratch, [](auto &sum, T element) { sum.add(widen(element)); },
        [&](size_t along, auto &sum) { out.at(along) += sum.value; });
}

template <class T>
__global__ void bias_backward_parts(View<const T, ANY> gradient, View<compute_t<T>, 1> out, size_t axis, Scratch scratch) {
    sum_at_indices<Pass::Parts>(gradient, out, axis, scratch);
}

DAHL_KERNEL(bias_backward, types(T: real), scratch(32 * min(gradient.len() / 128, 131072)),
            pass(bias_backward_parts, grid(max(blocks(out.len(), 8), blocks(gradient.len(), 1024))), block(32, 8)),
            pass(bias_backward, grid(blocks(out.len(), 8) * min(gradient.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void bias_backward(View<const T, ANY> gradient, View<compute_t<T>, 1> out, size_t axis, Scratch scratch) {
    sum_at_indices<Pass::Last>(gradient, out, axis, scratch);
}
