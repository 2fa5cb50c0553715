// The product of matrices in `product.rs`, as a kernel.
#include "dahl.cuh"
using namespace dahl;

DAHL_DEVICE View<const float, 2> oriented(const View<const float, 2> &matrix, bool transpose) {
    if (!transpose) return matrix;
    return {matrix.data, {matrix.extents[1], matrix.extents[0]}, {matrix.strides[1], matrix.strides[0]}};
}

extern "C" __global__ void product(View<const float, 2> a, View<const float, 2> b, View<float, 2> out, bool transpose_a, bool transpose_b, bool keep) {
    View<const float, 2> left = oriented(a, transpose_a), right = oriented(b, transpose_b);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        size_t row = i / out.extent(1), col = i % out.extent(1);
        float sum = keep ? out.at(row, col) : 0;
        for (size_t k = 0; k < left.extent(1); k++) sum += left.at(row, k) * right.at(k, col);
        out.at(row, col) = sum;
    }
}
