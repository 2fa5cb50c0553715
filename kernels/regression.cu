// Losses of predicted numbers.
//
//     mean_squared_error:   out += factor * sum of (x[i] - y[i])^2         x, the prediction, and y, the target, of one shape
//     mean_absolute_error:  out += factor * sum of |x[i] - y[i]|
//
// Sums as those of `reduce.cu`, of the differences. The factor goes into each term: where the square overflows the product need not.
#include "fold.cuh"

using namespace dahl;

template <class T>
__global__ void mean_squared_error_parts(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Task task) {
    using C = compute_t<T>;
    Elements<const T> predictions(x), targets(y);
    fold_parts<Sum<C>>(predictions.len, task, [&](auto &sum, size_t i) {
        C difference = widen(predictions[i]) - widen(targets[i]);
        sum.add(difference * (C(factor) * difference));
    });
}

DAHL_KERNEL(mean_squared_error, types(T: real), scratch(32 * blocks(x.len(), 2048)),
            pass(mean_squared_error_parts, grid(blocks(x.len(), 2048)), block(256)), pass(mean_squared_error, grid(1), block(256)))
template <class T>
__global__ void mean_squared_error(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Task task) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(x.len(), task);
    if (threadIdx.x == 0) out.element(0) += sum.value;
}

template <class T>
__global__ void mean_absolute_error_parts(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Task task) {
    using C = compute_t<T>;
    Elements<const T> predictions(x), targets(y);
    fold_parts<Sum<C>>(predictions.len, task, [&](auto &sum, size_t i) {
        C difference = widen(predictions[i]) - widen(targets[i]);
        sum.add(C(factor) * (difference < 0 ? -difference : difference));
    });
}

DAHL_KERNEL(mean_absolute_error, types(T: real), scratch(32 * blocks(x.len(), 2048)),
            pass(mean_absolute_error_parts, grid(blocks(x.len(), 2048)), block(256)), pass(mean_absolute_error, grid(1), block(256)))
template <class T>
__global__ void mean_absolute_error(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, double factor, Task task) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(x.len(), task);
    if (threadIdx.x == 0) out.element(0) += sum.value;
}
