// dot: out += sum of x[i] * y[i].                                  x and y: of one shape, out: []
//
// Like `sum` (`reduce.cu`), of two arrays: each element is read once, and the multiplications cost nothing next to
// that. In the first pass each block folds a share; in the second a single block merges the results in the order of the
// blocks. So the bits are the same in each run, which they would not be if blocks added to `out` as they finish.
#include "fold.cuh"

using namespace dahl;

template <class T>
__global__ void dot_parts(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, Scratch scratch) {
    Elements<const T> left(x), right(y);
    fold_parts<Sum<compute_t<T>>>(scratch, [](auto &sum, T x, T y) { sum.add(widen(x) * widen(y)); }, left, right);
}

DAHL_KERNEL(dot, types(T: real), scratch(32 * blocks(x.len(), 2048)),
            pass(dot_parts, grid(blocks(x.len(), 2048)), block(256)), pass(dot, grid(1), block(256)))
template <class T> __global__ void dot(View<const T, ANY> x, View<const T, ANY> y, View<compute_t<T>, ANY> out, Scratch scratch) {
    auto sum = fold_of_parts<Sum<compute_t<T>>>(x.len(), scratch);
    if (threadIdx.x == 0) out.element(0) += sum.value;
}
