// Norms of all elements or along an axis, and the gradients of the Euclidean one.
//
//     norm:           out  = sqrt(sum of input[i]^2)
//     norm_l1:        out += sum of |input[i]|
//     norm_backward:  out[i] = gradient * input[i] / norm, 0 where the norm is 0
//     .._axis:        the same along one axis, at which out (or gradient) has extent 1
//
// These are folds as in `reduce.cu`. Squares must not overflow where the norm does not, nor lose digits by underflow.
// Those of float and half-precision numbers are computed in double, whose range holds all of them; those of double in
// three sums, each for a range of magnitudes, scaled by a power of two (Blue 1978, A Portable Fortran Program to Find
// the Euclidean Norm of a Vector). So one pass is enough, however large the elements are.
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

// sqrt(sum of squares) as `root / scale`.
struct Root {
    double root, scale;

    DAHL_DEVICE double value() const { return root / scale; }

    // x / norm, even where the norm is out of range; 0 if the norm is 0.
    DAHL_DEVICE double ratio(double x) const {
        if (root == 0) return 0;
        double norm = value();
        bool is_in_range = is_finite(norm) && norm >= Limits<double>::min_positive();
        return is_in_range ? x / norm : x * scale / root;
    }
};

// A sum of squares. The general template is for float, whose squares are in the range of double.
template <class C> struct Squares {
    double sum;

    static DAHL_DEVICE Squares identity() { return {0}; }
    DAHL_DEVICE void add(C x) { sum += double(x) * double(x); }
    DAHL_DEVICE void merge(const Squares &later) { sum += later.sum; }
    DAHL_DEVICE Root root() const { return {sqrt(sum), 1}; }
};

template <> struct Squares<double> {
    // The sums of squares of numbers below 2^-511, times 2^537; of those above 2^486, times 2^-538; and of all others
    // and NaN.
    double small, large, sum;

    static DAHL_DEVICE double power_of_2(int exponent) { return bits_as<double>(uint64_t(1023 + exponent) << 52); }
    static DAHL_DEVICE Squares identity() { return {0, 0, 0}; }

    DAHL_DEVICE void add(double x) {
        double size = fabs(x);
        double up = x * power_of_2(537), down = x * power_of_2(-538);
        if (size > power_of_2(486)) {
            large += down * down;
        } else if (size < power_of_2(-511)) {
            small += up * up;
        } else {
            sum += x * x;
        }
    }
    DAHL_DEVICE void merge(const Squares &later) {
        small += later.small;
        large += later.large;
        sum += later.sum;
    }
    DAHL_DEVICE Root root() const {
        if (is_nan(sum)) return {sum, 1};
        if (large > 0) return {sqrt(large + sum * power_of_2(-538) * power_of_2(-538)), power_of_2(-538)};
        // The small ones are below the last digit of the others, except near the limit.
        if (sum > 0) return {sqrt(sum + small * power_of_2(-537) * power_of_2(-537)), 1};
        return {sqrt(small), power_of_2(537)};
    }
};

template <class T> __global__ void norm_parts(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    using C = compute_t<T>;
    Elements<const T> elements(input);
    fold_parts<Squares<C>>(scratch, [](auto &squares, T element) { squares.add(widen(element)); }, elements);
}

DAHL_KERNEL(norm, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(norm_parts, grid(blocks(input.len(), 2048)), block(256)), pass(norm, grid(1), block(256)))
template <class T> __global__ void norm(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    using C = compute_t<T>;
    auto squares = fold_of_parts<Squares<C>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() = from_double<T>(squares.root().value());
}

template <Pass pass, class T>
DAHL_DEVICE void norm_of_lanes(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<T> norms(out);
    fold_lanes<Squares<compute_t<T>>, pass>(
        lanes, scratch, [](auto &squares, T element) { squares.add(widen(element)); },
        [&](size_t lane, auto &squares) { norms[lane] = from_double<T>(squares.root().value()); });
}

template <class T>
__global__ void norm_axis_parts(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    norm_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(norm_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(norm_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(norm_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void norm_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    norm_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <class T> __global__ void norm_l1_parts(View<const T, ANY> input, View<compute_t<T>, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Sum<compute_t<T>>>(scratch, [](auto &sum, T element) { sum.add(fabs(widen(element))); }, elements);
}

DAHL_KERNEL(norm_l1, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(norm_l1_parts, grid(blocks(input.len(), 2048)), block(256)), pass(norm_l1, grid(1), block(256)))
template <class T> __global__ void norm_l1(View<const T, ANY> input, View<compute_t<T>, 0> out, Scratch scratch) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() += sum.value;
}

template <Pass pass, class T>
DAHL_DEVICE void norm_l1_of_lanes(const View<const T, ANY> &input, const View<compute_t<T>, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<compute_t<T>> sums(out);
    fold_lanes<Sum<compute_t<T>>, pass>(
        lanes, scratch, [](auto &sum, T element) { sum.add(fabs(widen(element))); },
        [&](size_t lane, auto &sum) { sums[lane] += sum.value; });
}

template <class T>
__global__ void norm_l1_axis_parts(View<const T, ANY> input, View<compute_t<T>, ANY> out, size_t axis, Scratch scratch) {
    norm_l1_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(norm_l1_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(norm_l1_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(norm_l1_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void norm_l1_axis(View<const T, ANY> input, View<compute_t<T>, ANY> out, size_t axis, Scratch scratch) {
    norm_l1_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <class T>
__global__ void norm_backward_parts(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    using C = compute_t<T>;
    Elements<const T> elements(input);
    fold_parts<Squares<C>>(scratch, [](auto &squares, T element) { squares.add(widen(element)); }, elements);
}

DAHL_KERNEL(norm_backward, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(norm_backward_parts, grid(blocks(input.len(), 2048)), block(256)),
            pass(norm_backward, grid(blocks(input.len(), 2048)), block(256)))
template <class T>
__global__ void norm_backward(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    using C = compute_t<T>;
    Elements<const T> from(input);
    Elements<T> to(out);
    // Every block merges all parts: they are few, and cached.
    Root norm = fold_of_parts<Squares<C>>(from.len, scratch).root();
    double factor = widen(gradient.at());
    for (size_t i = first_index(); i < to.len; i += grid_threads()) {
        double ratio = norm.ratio(widen(from[i]));
        to[i] = from_double<T>(norm.root == 0 ? 0 : ratio * factor);
    }
}

DAHL_KERNEL(norm_axis_backward, types(T: real), grid(blocks(gradient.len(), 8)), block(32, 8))
template <class T>
__global__ void norm_axis_backward(View<const T, ANY> input, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> inputs(input, axis), gradients(gradient, axis);
    Lanes<T> outs(out, axis);
    for_each_lane(inputs.count(), inputs.extent, inputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> from = inputs[lane];
        Lane<T> to = outs[lane];
        auto squares = Squares<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) squares.add(widen(from[i]));
        Root norm = share.fold(squares).root();
        double factor = widen(gradients[lane][0]);
        for (size_t i = share.first; i < share.end; i += share.step) {
            double ratio = norm.ratio(widen(from[i]));
            to[i] = from_double<T>(norm.root == 0 ? 0 : ratio * factor);
        }
    });
}
