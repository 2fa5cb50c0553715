// Variances of all elements or along an axis, and their gradients.
//
//     variance:           out = sum of (input[i] - mean)^2 / (count - correction)
//     variance_backward:  out[i] = gradient * 2 * (input[i] - mean) / (count - correction)
//     .._axis:            the same along one axis, at which out (or gradient) has extent 1
//
// The mean is computed first and subtracted, so that nothing cancels, and the rounding error of the mean is corrected
// for (Chan, Golub and LeVeque 1983, Algorithms for Computing the Sample Variance, equation 1.7). So an array is read
// two or three times: a whole array in passes, where each block of a pass merges the results of all blocks of the pass
// before; a lane by the threads that share it, from the cache.
//
// Everything is computed in double, also for types whose compute type is float: these kernels wait for memory, not for
// arithmetic, and squares of floats do not overflow a double. Doubles so large that their squares would overflow are
// scaled.
#include "deviations.cuh"
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

// The sums from which the mean is computed.
struct Total {
    // The sum of the elements; the sum of the elements times 2^-64, which does not overflow; and the largest magnitude.
    double sum, scaled_sum, magnitude;

    static DAHL_DEVICE double two_to_64() { return 18446744073709551616.0; }
    static DAHL_DEVICE Total identity() { return {0, 0, 0}; }
    DAHL_DEVICE void add(double x) {
        sum += x;
        scaled_sum += x / two_to_64();
        magnitude = maximum(magnitude, fabs(x));
    }
    DAHL_DEVICE void merge(const Total &later) {
        sum += later.sum;
        scaled_sum += later.scaled_sum;
        magnitude = maximum(magnitude, later.magnitude);
    }
    DAHL_DEVICE double mean(double count) const {
        double mean = sum / count;
        return is_finite(mean) ? mean : scaled_sum / count * two_to_64();
    }
    // A power of two that scales numbers so that their squares are in range.
    DAHL_DEVICE double unit() const { return magnitude > 0x1p480 ? 0x1p-600 : 1.0; }
};

DAHL_DEVICE double degrees(size_t count, size_t correction) { return count > correction ? double(count - correction) : 0.0; }

// The variance, from deviations that were multiplied by `unit`.
DAHL_DEVICE double variance_of(const Deviations &sums, double unit, size_t count, size_t correction) {
    double squares = maximum(sums.squares - sums.rest * (sums.rest / double(count)), 0.0);
    return squares / degrees(count, correction) / unit / unit;
}

// The scratch memory of the second pass, after that of the first.
DAHL_DEVICE Scratch second(const Scratch &scratch, size_t n) {
    return {scratch.as<char>() + 32 * blocks(n, PART)};
}

template <class T> DAHL_DEVICE void total_parts(const View<const T, ANY> &input, const Scratch &scratch) {
    Elements<const T> elements(input);
    fold_parts<Total>(scratch, [](Total &total, T element) { total.add(widen(element)); }, elements);
}

// Leaves sums of deviations from the mean, times the unit if they are to be squared.
template <class T> DAHL_DEVICE void deviation_parts(const View<const T, ANY> &input, const Scratch &scratch, bool are_squared) {
    Elements<const T> elements(input);
    Total total = fold_of_parts<Total>(elements.len, scratch);
    double mean = total.mean(double(elements.len)), unit = are_squared ? total.unit() : 1.0;
    fold_parts<Deviations>(
        second(scratch, elements.len), [&](Deviations &sums, T element) { sums.add(double(widen(element)) * unit - mean * unit); }, elements);
}

template <class T> __global__ void variance_total(View<const T, ANY> input, View<T, 0> out, size_t correction, Scratch scratch) {
    total_parts(input, scratch);
}

template <class T> __global__ void variance_deviations(View<const T, ANY> input, View<T, 0> out, size_t correction, Scratch scratch) {
    deviation_parts(input, scratch, true);
}

DAHL_KERNEL(variance, types(T: real), scratch(64 * blocks(input.len(), 2048)),
            pass(variance_total, grid(blocks(input.len(), 2048)), block(256)),
            pass(variance_deviations, grid(blocks(input.len(), 2048)), block(256)), pass(variance, grid(1), block(256)))
template <class T> __global__ void variance(View<const T, ANY> input, View<T, 0> out, size_t correction, Scratch scratch) {
    size_t count = input.len();
    double unit = fold_of_parts<Total>(count, scratch).unit();
    Deviations sums = fold_of_parts<Deviations>(count, second(scratch, count));
    if (threadIdx.x == 0) out.at() = from_double<T>(variance_of(sums, unit, count, correction));
}

DAHL_KERNEL(variance_axis, types(T: real), grid(blocks(out.len(), 8)), block(32, 8))
template <class T> __global__ void variance_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, size_t correction) {
    Lanes<const T> inputs(input, axis);
    Elements<T> variances(out);
    for_each_lane(inputs.count(), inputs.extent, inputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> from = inputs[lane];
        Total total = Total::identity();
        for (size_t i = share.first; i < share.end; i += share.step) total.add(widen(from[i]));
        total = share.fold(total);
        double unit = total.unit(), mean = total.mean(double(from.len)) * unit;
        Deviations sums = Deviations::identity();
        for (size_t i = share.first; i < share.end; i += share.step) sums.add(double(widen(from[i])) * unit - mean);
        sums = share.fold(sums);
        if (share.leads) variances[lane] = from_double<T>(variance_of(sums, unit, from.len, correction));
    });
}

template <class T>
__global__ void variance_backward_total(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, size_t correction, Scratch scratch) {
    total_parts(input, scratch);
}

template <class T>
__global__ void variance_backward_deviations(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, size_t correction,
                                             Scratch scratch) {
    deviation_parts(input, scratch, false);
}

DAHL_KERNEL(variance_backward, types(T: real), scratch(64 * blocks(input.len(), 2048)),
            pass(variance_backward_total, grid(blocks(input.len(), 2048)), block(256)),
            pass(variance_backward_deviations, grid(blocks(input.len(), 2048)), block(256)),
            pass(variance_backward, grid(blocks(input.len(), 2048)), block(256)))
template <class T>
__global__ void variance_backward(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, size_t correction, Scratch scratch) {
    Elements<const T> from(input);
    Elements<T> to(out);
    double count = double(from.len), mean = fold_of_parts<Total>(from.len, scratch).mean(count);
    double rest = fold_of_parts<Deviations>(from.len, second(scratch, from.len)).rest / count;
    double factor = double(widen(gradient.at())) * 2.0 / degrees(from.len, correction);
    for (size_t i = first_index(); i < to.len; i += grid_threads()) {
        to[i] = from_double<T>((double(widen(from[i])) - mean - rest) * factor);
    }
}

DAHL_KERNEL(variance_axis_backward, types(T: real), grid(blocks(gradient.len(), 8)), block(32, 8))
template <class T>
__global__ void variance_axis_backward(View<const T, ANY> input, View<const T, ANY> gradient, View<T, ANY> out, size_t axis,
                                       size_t correction) {
    Lanes<const T> inputs(input, axis), gradients(gradient, axis);
    Lanes<T> outs(out, axis);
    for_each_lane(inputs.count(), inputs.extent, inputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> from = inputs[lane];
        Lane<T> to = outs[lane];
        double count = double(from.len);
        Total total = Total::identity();
        for (size_t i = share.first; i < share.end; i += share.step) total.add(widen(from[i]));
        double mean = share.fold(total).mean(count);
        Deviations sums = Deviations::identity();
        for (size_t i = share.first; i < share.end; i += share.step) sums.add(double(widen(from[i])) - mean);
        double rest = share.fold(sums).rest / count;
        double factor = double(widen(gradients[lane][0])) * 2.0 / degrees(from.len, correction);
        for (size_t i = share.first; i < share.end; i += share.step) {
            to[i] = from_double<T>((double(widen(from[i])) - mean - rest) * factor);
        }
    });
}
