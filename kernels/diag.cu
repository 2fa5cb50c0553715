// Diagonals.
//
//     diag:               out[i, i] = input[i], 0 elsewhere       input: [extent], out: [extent, extent]
//     diagonal:           out[i] = input[i, i]                    input: [rows, cols], out: [min(rows, cols)]
//     diagonal_backward:  out[i, i] = gradient[i], 0 elsewhere
//
// One thread for each element of the output: writes are contiguous, and most elements are zero.
#include "dahl.cuh"

using namespace dahl;

template <class T> DAHL_DEVICE void put_on_diagonal(const View<const T, 1> &values, const View<T, 2> &out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Division place = divide(i, out.extent(1));
        bool is_on = place.quotient == place.remainder;
        out.at(place.quotient, place.remainder) = is_on ? values.at(place.quotient) : T{};
    }
}

DAHL_KERNEL(diag, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void diag(View<const T, 1> input, View<T, 2> out) { put_on_diagonal(input, out); }

DAHL_KERNEL(diagonal, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void diagonal(View<const T, 2> input, View<T, 1> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.at(i) = input.at(i, i);
}

DAHL_KERNEL(diagonal_backward, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void diagonal_backward(View<const T, 1> gradient, View<T, 2> out) {
    put_on_diagonal(gradient, out);
}
