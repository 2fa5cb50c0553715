// Rotary position embeddings, and their gradient.
//
//     rotary:           out[p, i]        = input[p, i] * cos - input[p, half + i] * sin      half = width / 2, i < half
//                       out[p, half + i] = input[p, half + i] * cos + input[p, i] * sin      angle = position of p * base^(-2 i / width)
//     rotary_backward:  the same with -sin
//
// The angle depends on the token and the pair, not on the sequence, and its power, sine and cosine, computed in double,
// take far longer than a pair's six loads and stores. So a thread has one pair of one token, computes the angle once, and
// turns the pair in every sequence of its share (`blockIdx.y` says which): at least four, if there are so many.
// Neighbouring threads have neighbouring pairs. Each element is read and written once.
#include "dahl.cuh"

using namespace dahl;

template <class T>
DAHL_DEVICE void turn(const View<const T, ANY> &input, const View<T, ANY> &out, double base, size_t offset, compute_t<T> sign) {
    using C = compute_t<T>;
    Lanes<const T> from(input, input.rank() - 1);
    Lanes<T> to(out, out.rank() - 1);
    size_t width = from.extent, half = width / 2, tokens = input.extent(input.rank() - 2);
    if (from.count() == 0) return;
    size_t sequences = from.count() / tokens;
    for (size_t pair = first_index(); pair < tokens * half; pair += grid_threads()) {
        Division place = divide(pair, half);
        size_t token = place.quotient, i = place.remainder;
        double angle = double(offset + token) * pow(base, -2.0 * double(i) / double(width));
        C cosine = C(cos(angle)), sine = C(sin(angle)) * sign;
        for (size_t sequence = blockIdx.y; sequence < sequences; sequence += gridDim.y) {
            Lane<const T> row = from[sequence * tokens + token];
            Lane<T> turned = to[sequence * tokens + token];
            C first = widen(row[i]), second = widen(row[half + i]);
            turned[i] = narrow<T>(first * cosine - second * sine);
            turned[half + i] = narrow<T>(second * cosine + first * sine);
        }
    }
}

DAHL_KERNEL(rotary, types(T: real),
            grid(blocks(input.extent(input.rank() - 2) * input.extent(input.rank() - 1) / 2, 256),
                 blocks(input.len() / max(input.extent(input.rank() - 2) * input.extent(input.rank() - 1), 1), 4)),
            block(256))
template <class T> __global__ void rotary(View<const T, ANY> input, View<T, ANY> out, double base, size_t offset) {
    turn(input, out, base, offset, compute_t<T>(1));
}

DAHL_KERNEL(rotary_backward, types(T: real),
            grid(blocks(gradient.extent(gradient.rank() - 2) * gradient.extent(gradient.rank() - 1) / 2, 256),
                 blocks(gradient.len() / max(gradient.extent(gradient.rank() - 2) * gradient.extent(gradient.rank() - 1), 1), 4)),
            block(256))
template <class T> __global__ void rotary_backward(View<const T, ANY> gradient, View<T, ANY> out, double base, size_t offset) {
    turn(gradient, out, base, offset, compute_t<T>(-1));
}
