// Matrix products.
//
//     matmul:      out  = a x b               a: [rows, inner], b: [inner, cols], out: [rows, cols]
//     matmul_add:  out += a x b
//     matvec:      out  = a x vector          vector: [cols], out: [rows]
//     outer:       out[i, j] = column[i] * row[j]
//
// `a` and `b` are transposed first if their flags are set: nothing is moved, extents and strides change places.
// The products of matrices go in tiles (`include/product.cuh`). That of a matrix and a vector reads each element of the matrix
// once, for one product, so it is as fast as the matrix is read: a warp goes along a row, or down 32 columns, as it lies.
#include "fold.cuh"
#include "product.cuh"

using namespace dahl;

// A matrix, or its transpose.
template <class T> DAHL_DEVICE View<T, 2> oriented(const View<T, 2> &matrix, bool transpose) {
    if (!transpose) return matrix;
    return {matrix.data, {matrix.extents[1], matrix.extents[0]}, {matrix.strides[1], matrix.strides[0]}};
}

// A factor whose outer dimension is the first: the left one, or the transpose of the right one.
template <class T> struct Factor {
    static constexpr bool HAS_GAPS = false;
    View<const T, 2> matrix;
    bool along_inner;

    explicit DAHL_DEVICE Factor(const View<const T, 2> &matrix) : matrix(matrix), along_inner(matrix.strides[0] != 1) {}

    DAHL_DEVICE size_t outer(size_t i) const { return i; }
    DAHL_DEVICE compute_t<T> at(size_t outer, size_t inner) const { return widen(matrix.at(outer, inner)); }
};

DAHL_KERNEL(matmul, types(T: real), grid(blocks(out.extent(1), 64), blocks(out.extent(0), 64)), block(16, 16))
template <class T>
__global__ void matmul(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b) {
    Factor<T> left(oriented(a, transpose_a)), right(oriented(b, !transpose_b));
    tiled_product<compute_t<T>>(out.extent(0), out.extent(1), 0, left.matrix.extent(1), left, right,
                                [&](size_t row, size_t col, compute_t<T> sum) { out.at(row, col) = narrow<T>(sum); });
}

DAHL_KERNEL(matmul_add, types(T: real), grid(blocks(out.extent(1), 64), blocks(out.extent(0), 64)), block(16, 16))
template <class T>
__global__ void matmul_add(View<const T, 2> a, View<const T, 2> b, View<compute_t<T>, 2> out, bool transpose_a, bool transpose_b) {
    Factor<T> left(oriented(a, transpose_a)), right(oriented(b, !transpose_b));
    tiled_product<compute_t<T>>(out.extent(0), out.extent(1), 0, left.matrix.extent(1), left, right,
                                [&](size_t row, size_t col, compute_t<T> sum) { out.at(row, col) += sum; });
}

DAHL_KERNEL(matvec, types(T: real), grid(blocks(out.len(), 8)), block(32, 8))
template <class T>
__global__ void matvec(View<const T, 2> a, View<const T, 1> vector, View<T, 1> out, bool transpose_a) {
    View<const T, 2> matrix = oriented(a, transpose_a);
    size_t rows_beside = matrix.stride(0) == 1 ? matrix.extent(0) : 1;
    fold_lanes<Sum<compute_t<T>>>(
        matrix.extent(0), matrix.extent(1), rows_beside, [](size_t row) { return row; },
        [&](auto &sum, size_t row, size_t i) { sum.add(widen(matrix.at(row, i)) * widen(vector.at(i))); },
        [&](size_t row, auto &sum) { out.at(row) = narrow<T>(sum.value); });
}

DAHL_KERNEL(outer, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void outer(View<const T, 1> column, View<const T, 1> row, View<T, 2> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Division place = divide(i, out.extent(1));
        compute_t<T> value = widen(column.at(place.quotient)) * widen(row.at(place.remainder));
        out.at(place.quotient, place.remainder) = narrow<T>(value);
    }
}
