// Rows with mean 0 and variance 1, times a weight, plus a bias; and the gradients.
//
//     layer_norm:                  out = y * weight + bias     y = (input - mean) * r,  r = 1 / sqrt(variance + epsilon)
//     layer_norm_backward_input:   out = r * (g - mean of g - y * mean of (g * y)),  g = gradient * weight
//     layer_norm_backward_weight:  out += sum over rows of gradient * y
//
// A row is a line along the last axis. A warp takes each row, a block each row of 1024 elements or more; they keep it in
// registers, so it is read once and the result written once: the kernels wait for memory. `include/row_norm.cuh` says
// how rows are normalized, and how the gradient by the weight is summed over them.
#include "row_norm.cuh"

using namespace dahl;

DAHL_KERNEL(layer_norm, types(T: real), grid(blocks(out.len() / max(weight.len(), 1), 8)), block(32, 8))
template <class T>
__global__ void layer_norm(View<const T, ANY> input, View<const T, 1> weight, View<const T, 1> bias, View<T, ANY> out, double epsilon) {
    normalize_rows<Centre::Mean>(input, out, epsilon, [&](size_t i, compute_t<T> y) { return y * widen(weight.at(i)) + widen(bias.at(i)); });
}

DAHL_KERNEL(layer_norm_backward_input, types(T: real), grid(blocks(out.len() / max(weight.len(), 1), 8)), block(32, 8))
template <class T>
__global__ void layer_norm_backward_input(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient, View<T, ANY> out,
                                          double epsilon) {
    normalize_rows_backward<Centre::Mean>(input, weight, gradient, out, epsilon);
}

template <class T>
__global__ void layer_norm_backward_weight_rows(View<const T, ANY> input, View<const T, ANY> gradient, View<compute_t<T>, 1> out, double epsilon,
                                                Scratch scratch) {
    leave_row_statistics<Centre::Mean>(input, epsilon, scratch);
}

template <class T>
__global__ void layer_norm_backward_weight_parts(View<const T, ANY> input, View<const T, ANY> gradient, View<compute_t<T>, 1> out, double epsilon,
                                                 Scratch scratch) {
    leave_weight_parts(input, gradient, scratch);
}

DAHL_KERNEL(layer_norm_backward_weight, types(T: real), let(rows = input.len() / max(out.len(), 1)),
            let(parts = max(min(264 / blocks(out.len(), 32), rows / 64), 1)),
            scratch(sizeof(compute_t<T>) * (4 * rows + out.len() * parts)),
            pass(layer_norm_backward_weight_rows, grid(blocks(rows, 8)), block(32, 8)),
            pass(layer_norm_backward_weight_parts, grid(blocks(out.len(), 32), parts), block(32, 8)),
            pass(layer_norm_backward_weight, grid(blocks(out.len(), 256)), block(256)))
template <class T>
__global__ void layer_norm_backward_weight(View<const T, ANY> input, View<const T, ANY> gradient, View<compute_t<T>, 1> out, double epsilon,
                                           Scratch scratch) {
    add_weight_parts<T>(out, input.len() / (out.len() > 0 ? out.len() : 1), scratch);
}
