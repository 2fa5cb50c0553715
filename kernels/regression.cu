// Losses of predicted numbers.
//
//     mean_squared_error:   out += factor * sum of (x[i] - y[i])^2         x, the prediction, and y, the target, of one shape
//     mean_absolute_error:  out += factor * sum of |x[i] - y[i]|
//
// These are sums as in `reduce.cu`, of the differences. Each term is multiplied by the factor: if a square overflows,
// its product with the factor may not.
#include "fold.cuh"

using namespace dahl;

template <class T>
__global__ void mean_squared_error_parts(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Scratch scratch) {
    using C = compute_t<T>;
    Elements<const T> predictions(x), targets(y);
    fold_parts<Sum<C>>(
        scratch,
        [&](auto &sum, T prediction, T target) {
            C difference = widen(prediction) - widen(target);
            sum.add(difference * (C(factor) * difference));
        },
        predictions, targets);
}

DAHL_KERNEL(mean_squared_error, types(T: real), scratch(32 * blocks(x.len(), 2048)),
            pass(mean_squared_error_parts, grid(blocks(x.len(), 2048)), block(256)), pass(mean_squared_error, grid(1), block(256)))
template <class T>
__global__ void mean_squared_error(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Scratch scratch) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(x.len(), scratch);
    if (threadIdx.x == 0) out.element(0) += sum.value;
}

template <class T>
__global__ void mean_absolute_error_parts(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Scratch scratch) {
    using C = compute_t<T>;
    Elements<const T> predictions(x), targets(y);
    fold_parts<Sum<C>>(
        scratch,
        [&](auto &sum, T prediction, T target) {
            C difference = widen(prediction) - widen(target);
            sum.add(C(factor) * (difference < 0 ? -difference : difference));
        },
        predictions, targets);
}

DAHL_KERNEL(mean_absolute_error, types(T: real), scratch(32 * blocks(x.len(), 2048)),
            pass(mean_absolute_error_parts, grid(blocks(x.len(), 2048)), block(256)), pass(mean_absolute_error, grid(1), block(256)))
template <class T>
__global__ void mean_absolute_error(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Scratch scratch) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(x.len(), scratch);
    if (threadIdx.x == 0) out.element(0) += sum.value;
}
