// Products of batches of matrices.
//
//     matmul_batched:  out[n] = a[n] x b[n]      a: [batch, rows, inner], b: [batch, inner, cols], out: [batch, rows, cols]
//
// `a[n]` and `b[n]` are transposed first if their flags are set, by exchanging extents and strides: nothing is copied.
// Each product is computed in tiles, as a single one is, those of halves by tensor cores (`include/product.cuh`): a block
// takes a tile of 64 x 128 of one product, and its z is the number of the product. So a batch of products, each of which
// has too few tiles for a device, still occupies it, and the inner dimension is not split among blocks as that of a single
// product is (`matmul.cu`).
#include "matrix.cuh"

using namespace dahl;

// Product number `index` of a batch.
template <class T> DAHL_DEVICE View<T, 2> of_batch(const View<T, 3> &batch, size_t index) {
    return {batch.data + int64_t(index) * batch.strides[0], {batch.extents[1], batch.extents[2]}, {batch.strides[1], batch.strides[2]}};
}

DAHL_KERNEL(matmul_batched, types(T: real),
            grid(blocks(out.extent(2), 128), blocks(out.extent(1), 64), blocks(out.extent(0), 1)), block(256),
            resident(8 / sizeof(compute_t<T>)))
template <class T>
__global__ void matmul_batched(View<const T, 3> a, View<const T, 3> b, View<T, 3> out, bool transpose_a, bool transpose_b) {
    for (size_t index = blockIdx.z; index < out.extent(0); index += gridDim.z) {
        Factor<T> left(oriented(of_batch(a, index), transpose_a)), right(oriented(of_batch(b, index), !transpose_b));
        View<T, 2> product = of_batch(out, index);
        tiled_product<T>(
            product.extent(0), product.extent(1), 0, left.matrix.extent(1), left, right, [](size_t row) { return row; },
            [](size_t col) { return col; }, [&](size_t row, size_t col, compute_t<T> sum) { product.at(row, col) = narrow<T>(sum); });
    }
}
