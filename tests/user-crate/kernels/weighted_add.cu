// weighted_add: a weighted mean of two matrices, below a first row.
//
//     out[i, j] = alpha * x[i, j] + (1 - alpha) * y[i, j], and 0 in rows before first_row
//
// Shapes: x, y, out: [rows, cols], strided as they come. A thread per element, in row-major order.
#include "dahl.cuh"
using namespace dahl;

DAHL_KERNEL(weighted_add, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void weighted_add(View<const T, 2> x, View<const T, 2> y, View<T, 2> out, T alpha, uint32_t first_row) {
    using C = compute_t<T>;
    const C weight = widen(alpha);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        const size_t row = i / out.extent(1), col = i % out.extent(1);
        const C sum = weight * widen(x.at(row, col)) + (C(1) - weight) * widen(y.at(row, col));
        out.at(row, col) = narrow<T>(row < first_row ? C(0) : sum);
    }
}
