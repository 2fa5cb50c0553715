// Matrix products.
//
//     matmul:      out  = a x b               a: [rows, inner], b: [inner, cols], out: [rows, cols]
//     matmul_add:  out += a x b
//     matvec:      out  = a x vector          vector: [cols], out: [rows]
//     outer:       out[i, j] = column[i] * row[j]
//
// `a` and `b` are transposed first if their flags are set, by exchanging extents and strides. Products of matrices are
// computed in tiles, those of halves by tensor cores (`include/product.cuh`). The product of a matrix and a vector reads each
// element of the matrix once, for one product, so it is limited by the bandwidth of memory: a warp goes along a row, or
// down 32 columns, depending on the layout.
#include "fold.cuh"
#include "lanes.cuh"
#include "matrix.cuh"
#include "parts.cuh"

using namespace dahl;

// A block's part of a product. If it is the only part, `store(row, col, sum)` gets the elements; otherwise they go to
// scratch memory.
template <class T, class Store>
DAHL_DEVICE void product_of_part(const View<const T, 2> &a, const View<const T, 2> &b, size_t rows, size_t cols, bool transpose_a,
                                 bool transpose_b, const Scratch &scratch, Store store) {
    Factor<T> left(oriented(a, transpose_a)), right(oriented(b, !transpose_b));
    Part part = Part::of_block(left.matrix.extent(1));
    compute_t<T> *sums = gridDim.z > 1 ? scratch.as<compute_t<T>>() + blockIdx.z * rows * cols : nullptr;
    tiled_product<T>(
        rows, cols, part.first, part.end, left, right, [](size_t row) { return row; }, [](size_t col) { return col; },
        [&](size_t row, size_t col, compute_t<T> sum) {
            if (sums == nullptr) {
                store(row, col, sum);
            } else {
                sums[row * cols + col] = sum;
            }
        });
}

// Stores the product, or leaves the sums of parts in scratch memory if there are several; only then the pass `matmul`
// is launched.
template <class T>
__global__ void matmul_parts(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b, Scratch scratch) {
    product_of_part(a, b, out.extent(0), out.extent(1), transpose_a, transpose_b, scratch,
                    [&](size_t row, size_t col, compute_t<T> sum) { out.at(row, col) = narrow<T>(sum); });
}

DAHL_KERNEL(matmul, types(T: real),
            let(parts = max(min(264 / (blocks(out.extent(1), 128) * blocks(out.extent(0), 64)), a.len() / max(out.extent(0), 1) / 128), 1)),
            scratch(sizeof(compute_t<T>) * out.len() * parts * min(parts - 1, 1)),
            pass(matmul_parts, grid(blocks(out.extent(1), 128), blocks(out.extent(0), 64), parts), block(256),
                 resident(8 / sizeof(compute_t<T>))),
            pass(matmul, grid(blocks(out.len(), 8) * min(parts - 1, 1)), block(32, 8)))
template <class T>
__global__ void matmul(View<const T, 2> a, View<const T, 2> b, View<T, 2> out, bool transpose_a, bool transpose_b, Scratch scratch) {
    uint64_t inner = oriented(a, transpose_a).extent(1);
    uint64_t parts = parts_of(out.extent(0), out.extent(1), inner, 128);
    sum_parts(scratch.as<compute_t<T>>(), parts, out.len(), [&](size_t i, compute_t<T> sum) {
        Division place = divide(i, out.extent(1));
        size_t row = place.quotient, col = place.remainder;
        out.at(row, col) = narrow<T>(sum);
    });
}

// Stores the product, or leaves the sums of parts in scratch memory if there are several; only then the pass
// `matmul_add` is launched.
template <class T>
__global__ void matmul_add_parts(View<const T, 2> a, View<const T, 2> b, View<compute_t<T>, 2> out, bool transpose_a, bool transpose_b,
                                 Scratch scratch) {
    product_of_part(a, b, out.extent(0), out.extent(1), transpose_a, transpose_b, scratch,
                    [&](size_t row, size_t col, compute_t<T> sum) { out.at(row, col) += sum; });
}

DAHL_KERNEL(matmul_add, types(T: real),
            let(parts = max(min(264 / (blocks(out.extent(1), 128) * blocks(out.extent(0), 64)), a.len() / max(out.extent(0), 1) / 128), 1)),
            scratch(sizeof(compute_t<T>) * out.len() * parts * min(parts - 1, 1)),
            pass(matmul_add_parts, grid(blocks(out.extent(1), 128), blocks(out.extent(0), 64), parts), block(256),
                 resident(8 / sizeof(compute_t<T>))),
            pass(matmul_add, grid(blocks(out.len(), 8) * min(parts - 1, 1)), block(32, 8)))
template <class T>
__global__ void matmul_add(View<const T, 2> a, View<const T, 2> b, View<compute_t<T>, 2> out, bool transpose_a, bool transpose_b,
                           Scratch scratch) {
    uint64_t inner = oriented(a, transpose_a).extent(1);
    uint64_t parts = parts_of(out.extent(0), out.extent(1), inner, 128);
    sum_parts(scratch.as<compute_t<T>>(), parts, out.len(), [&](size_t i, compute_t<T> sum) {
        Division place = divide(i, out.extent(1));
        size_t row = place.quotient, col = place.remainder;
        out.at(row, col) += sum;
    });
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
