// Padding along any axes, with a value or with copies of the input's elements, and the gradient of the copies.
//
//     pad:                  out = input, with `value` around it: `before` and `after` it along each axis
//     pad_copies:           out = input, with copies of its elements around it: mirrored, the outermost, or from the other end
//     pad_copies_backward:  out[i] = sum of the gradients by the copies of element i
//
// One thread computes each element of the output, and finds its index along each axis by a division; neighbouring threads
// have neighbouring elements. Backward, it goes over the copies of its element, in row-major order, instead of adding each
// gradient to the element that it is of: so no two threads add to one element. Most elements have one copy; a corner that is
// replicated has as many as its padding, all of which one thread adds.
#include "dahl.cuh"

using namespace dahl;

// As `ops::PadMode`.
enum Mode : uint8_t { Reflect, Replicate, Circular };

// An axis with padding: which elements are copied where.
struct Padded {
    uint64_t extent, before, after;
    uint8_t mode;

    // The element that is at `index` of the padded axis.
    DAHL_DEVICE uint64_t source(uint64_t index) const {
        if (index < before) return mode == Reflect ? before - index : mode == Replicate ? 0 : index + extent - before;
        uint64_t inside = index - before;
        if (inside < extent) return inside;
        return mode == Reflect ? 2 * (extent - 1) - inside : mode == Replicate ? extent - 1 : inside - extent;
    }

    // The copies of element `i`: some before the input, one in it, and some behind it.
    struct Copies {
        uint64_t first, before, inside, behind, after;

        DAHL_DEVICE uint64_t count() const { return before + 1 + after; }
        DAHL_DEVICE uint64_t index(uint64_t copy) const {
            return copy < before ? first + copy : copy == before ? inside : behind + (copy - before - 1);
        }
    };
    DAHL_DEVICE Copies copies(uint64_t i) const {
        Copies all = {0, 0, before + i, 0, 0};
        if (mode == Replicate) {
            if (i == 0) all.before = before;
            if (i + 1 == extent) all.behind = before + extent, all.after = after;
        } else if (mode == Reflect) {
            if (i >= 1 && i <= before) all.first = before - i, all.before = 1;
            uint64_t beyond = 2 * (extent - 1) - i; // where the mirrored element is, if it is behind the input
            if (i + 1 < extent && beyond < extent + after) all.behind = before + beyond, all.after = 1;
        } else {
            if (i + before >= extent) all.first = i + before - extent, all.before = 1;
            if (i < after) all.behind = before + extent + i, all.after = 1;
        }
        return all;
    }
};

DAHL_KERNEL(pad, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void pad(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> before, Extents<ANY> after, T value) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        size_t rest = i;
        int64_t place = 0;
        bool is_inside = true;
        for (int axis = out.rank() - 1; axis >= 0; axis--) {
            Division step = divide(rest, out.extent(axis));
            uint64_t at = step.remainder - before[axis];
            is_inside &= at < input.extent(axis);
            place += int64_t(at) * input.stride(axis);
            rest = step.quotient;
        }
        out.element(i) = is_inside ? input.data[place] : value;
    }
}

DAHL_KERNEL(pad_copies, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void pad_copies(View<const T, ANY> input, View<T, ANY> out, Extents<ANY> before, Extents<ANY> after, uint8_t mode) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        size_t rest = i;
        int64_t place = 0;
        for (int axis = out.rank() - 1; axis >= 0; axis--) {
            Division step = divide(rest, out.extent(axis));
            Padded padded = {input.extent(axis), before[axis], after[axis], mode};
            place += int64_t(padded.source(step.remainder)) * input.stride(axis);
            rest = step.quotient;
        }
        out.element(i) = input.data[place];
    }
}

DAHL_KERNEL(pad_copies_backward, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void pad_copies_backward(View<const T, ANY> gradient, View<T, ANY> out, Extents<ANY> before, Extents<ANY> after, uint8_t mode) {
    auto copies_of = [&](size_t i, int axis) {
        return Padded{out.extent(axis), before[axis], after[axis], mode}.copies(i);
    };
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        size_t rest = i, count = 1;
        for (int axis = out.rank() - 1; axis >= 0; axis--) {
            Division step = divide(rest, out.extent(axis));
            count *= copies_of(step.remainder, axis).count();
            rest = step.quotient;
        }
        compute_t<T> sum = 0;
        for (size_t copy = 0; copy < count; copy++) {
            size_t of_copy = copy;
            int64_t place = 0;
            rest = i;
            for (int axis = out.rank() - 1; axis >= 0; axis--) {
                Division step = divide(rest, out.extent(axis));
                auto copies = copies_of(step.remainder, axis);
                Division number = divide(of_copy, copies.count());
                place += int64_t(copies.index(number.remainder)) * gradient.stride(axis);
                rest = step.quotient, of_copy = number.quotient;
            }
            sum += widen(gradient.data[place]);
        }
        out.element(i) = narrow<T>(sum);
    }
}
