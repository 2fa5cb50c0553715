// Sums along several axes.
//
//     sum_axes:           out[k] += sum over s of input[k, s]     s along `axes`, k along the others
//     sum_axes_backward:  out[k, s] = gradient[k]
//
// The places along the axes that stay are lanes, and those along the axes that are summed are the elements of a lane,
// both in row-major order. The folds are those of lanes along one axis (`include/lanes.cuh`). The last axes, if they are
// summed, are runs of adjacent elements: a thread reads 16 bytes of one at a time. If the last axis stays, lanes are
// adjacent, and a thread goes down several.
#include "chunk.cuh"
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

DAHL_DEVICE bool has_axis(uint64_t axes, int axis) { return axes >> axis & 1; }

// The array's elements at index 0 of these axes.
template <class T> DAHL_DEVICE View<const T, ANY> at_first(View<const T, ANY> array, uint64_t axes) {
#pragma unroll
    for (int axis = 0; axis < MAX_RANK; axis++) {
        if (has_axis(axes, axis)) array.extents[axis] = 1;
    }
    return array;
}

// The elements of one lane, as `fold_share` reads them.
template <class T> struct ReadSummed {
    static constexpr bool in_line = false;
    const T *first;
    // Where the runs of a lane begin.
    const View<const T, ANY> &runs;
    // The length of a run.
    size_t run;
    bool at_once;

    DAHL_DEVICE int64_t place(size_t i) const {
        if (run == 1) return runs.place(i, 0, runs.rank());
        Division at = divide(i, run);
        return runs.place(at.quotient, 0, runs.rank()) + int64_t(at.remainder);
    }
    DAHL_DEVICE T operator[](size_t i) const { return first[place(i)]; }
    DAHL_DEVICE T line(size_t i) const { return first[place(i)]; }
    DAHL_DEVICE const T *chunk(size_t start) const { return first + place(start); }
};

// All lanes, as `fold_lanes_of` takes them.
template <class T> struct ReadLanesOfAxes {
    View<const T, ANY> lanes, runs;
    // The number of elements of a lane, of adjacent lanes, and of elements of a run.
    size_t extent, after, run;
    bool fits;

    DAHL_DEVICE ReadLanesOfAxes(const View<const T, ANY> &input, uint64_t axes)
        : lanes(at_first<T>(input, axes)), runs(at_first<T>(input, ~axes)), extent(runs.len()), after(1), run(1), fits(Chunk::fits(Elements<const T>(input))) {
        uint64_t in_run = 0;
        bool is_run = true, are_adjacent = true;
        for (int axis = input.rank() - 1; axis >= 0; axis--) {
            size_t own = input.extent(axis);
            if (own == 1) continue;
            are_adjacent = are_adjacent && !has_axis(axes, axis);
            if (are_adjacent) after *= own;
            is_run = is_run && has_axis(axes, axis) && input.stride(axis) == int64_t(run);
            if (!is_run) continue;
            run *= own;
            in_run |= uint64_t(1) << axis;
        }
        runs = at_first<T>(runs, in_run);
    }

    DAHL_DEVICE size_t count() const { return lanes.len(); }
    DAHL_DEVICE ReadSummed<T> read(size_t lane) const {
        return {lanes.data + lanes.place(lane, 0, lanes.rank()), runs, run, fits && run % EACH<T> == 0};
    }
    DAHL_DEVICE bool are_in_chunks() const { return fits && after % EACH<T> == 0; }
};

template <Pass pass, class T>
DAHL_DEVICE void sum_of_axes(const View<const T, ANY> &input, const View<compute_t<T>, ANY> &out, uint64_t axes, const Scratch &scratch) {
    Elements<compute_t<T>> sums(out);
    fold_lanes_of<Sum<compute_t<T>>, pass, T>(
        ReadLanesOfAxes<T>(input, axes), scratch, [](auto &sum, T element) { sum.add(widen(element)); },
        [&](size_t lane, auto &sum) { sums[lane] += sum.value; });
}

template <class T>
__global__ void sum_axes_parts(View<const T, ANY> input, View<compute_t<T>, ANY> out, uint64_t axes, Scratch scratch) {
    sum_of_axes<Pass::Parts>(input, out, axes, scratch);
}

DAHL_KERNEL(sum_axes, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(sum_axes_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(sum_axes, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void sum_axes(View<const T, ANY> input, View<compute_t<T>, ANY> out, uint64_t axes, Scratch scratch) {
    sum_of_axes<Pass::Last>(input, out, axes, scratch);
}

DAHL_KERNEL(sum_axes_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void sum_axes_backward(View<const T, ANY> gradient, View<T, ANY> out, uint64_t axes) {
    // Along the axes that were summed, one element stands for all.
    View<const T, ANY> stretched = gradient;
#pragma unroll
    for (int axis = 0; axis < MAX_RANK; axis++) {
        if (!has_axis(axes, axis)) continue;
        stretched.extents[axis] = out.extents[axis];
        stretched.strides[axis] = 0;
    }
    Elements<T> to(out);
    for (size_t i = first_index(); i < to.len; i += grid_threads()) to[i] = stretched.element(i);
}
