// Clipping of gradients (`src/optimizer/clip.rs`).
//
//     add_squares:    total += sum of gradient[i]^2, in double
//     scale_to_norm:  gradient *= min(max_norm / (norm + 1e-6), 1)
//     limit_values:   gradient = the nearest number from -limit to limit
//
// The squares are summed in two passes: each block leaves the sum of its share in scratch memory, and one block adds these. The
// order depends on the length alone, so the bits are the same in each run.
#include "map.cuh"

using namespace dahl;

constexpr unsigned THREADS = 256;
// The least number of elements for a block.
constexpr unsigned SHARE = 2048;

// The sum of all threads' values, by halves.
DAHL_DEVICE double sum_of_block(double value) {
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = value;
    __syncthreads();
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    return sums[0];
}

template <class T>
__global__ void add_squares_of_parts(View<const T, ANY> gradient, View<double, 0> total, Scratch scratch) {
    Elements<const T> gradients(gradient);
    double sum = 0;
    for (size_t i = first_index(); i < gradients.len; i += grid_threads()) {
        double wide = double(widen(gradients[i]));
        sum += wide * wide;
    }
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) scratch.as<double>()[blockIdx.x] = sum;
}

DAHL_KERNEL(add_squares, types(T: real), scratch(8 * blocks(gradient.len(), 2048)),
            pass(add_squares_of_parts, grid(blocks(gradient.len(), 2048)), block(256)), pass(add_squares, grid(1), block(256)))
template <class T> __global__ void add_squares(View<const T, ANY> gradient, View<double, 0> total, Scratch scratch) {
    size_t parts = blocks(gradient.len(), SHARE);
    double sum = 0;
    for (size_t part = threadIdx.x; part < parts; part += THREADS) sum += scratch.as<double>()[part];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) total.at() += sum;
}

DAHL_KERNEL(scale_to_norm, types(T: real), grid(blocks(gradient.len(), 1024)), block(256))
template <class T> __global__ void scale_to_norm(View<T, ANY> gradient, View<const double, 0> norm, double max_norm) {
    double ratio = max_norm / (norm.at() + 1e-6);
    compute_t<T> factor = compute_t<T>(ratio > 1 ? 1.0 : ratio);
    Elements<T> gradients(gradient);
    for (size_t i = first_index(); i < gradients.len; i += grid_threads()) {
        gradients[i] = narrow<T>(widen(gradients[i]) * factor);
    }
}

DAHL_KERNEL(limit_values, types(T: real), grid(blocks(gradient.len(), 1024)), block(256))
template <class T> __global__ void limit_values(View<T, ANY> gradient, double limit) {
    using C = compute_t<T>;
    C most = C(limit);
    Elements<T> gradients(gradient);
    for (size_t i = first_index(); i < gradients.len; i += grid_threads()) {
        C wide = widen(gradients[i]);
        C below = wide > most ? most : wide;
        gradients[i] = narrow<T>(below < -most ? -most : below);
    }
}
