// A step of a gated recurrent unit without its matrix products, and its gradients.
//
//     gru_cell:           out = n + z * (hidden - n), with n = tanh(x_n + sigmoid(x_r + h_r) * h_n), z = sigmoid(x_z + h_z)
//     gru_cell_backward:  the gradients by the gates of the input, by those of the state, and by the state
//
// where a row of both gates [batch, 3 * width] has r, z and n side by side, and all others are [batch, width].
//
// One thread computes an element of the state: it reads its six gates, each once, a width apart, and neighbouring threads
// read neighbouring elements of each gate. The gradient computes the gates again instead of reading what they became: that
// costs a few exponentials, and the kernel waits for memory.
#include "gate.cuh"

using namespace dahl;

// The gates of an element of the state.
template <class C> struct Gates {
    C reset, update, candidate, hidden_candidate;

    template <class T>
    DAHL_DEVICE Gates(const View<const T, 2> &of_input, const View<const T, 2> &of_hidden, size_t width, size_t row, size_t column) {
        auto input = [&](size_t number) { return gate_of(of_input, width, row, column, number); };
        auto hidden = [&](size_t number) { return gate_of(of_hidden, width, row, column, number); };
        reset = logistic(input(0) + hidden(0)), update = logistic(input(1) + hidden(1));
        hidden_candidate = hidden(2);
        candidate = tanh(input(2) + reset * hidden_candidate);
    }
};

DAHL_KERNEL(gru_cell, types(T: real), grid(blocks(hidden.len(), 256)), block(256))
template <class T>
__global__ void gru_cell(View<const T, 2> input_gates, View<const T, 2> hidden_gates, View<const T, 2> hidden, View<T, 2> out) {
    using C = compute_t<T>;
    for_each_of_state(hidden, [&](size_t row, size_t column) {
        Gates<C> gates(input_gates, hidden_gates, hidden.extent(1), row, column);
        out.at(row, column) = narrow<T>(gates.candidate + gates.update * (widen(hidden.at(row, column)) - gates.candidate));
    });
}

DAHL_KERNEL(gru_cell_backward, types(T: real), grid(blocks(hidden.len(), 256)), block(256))
template <class T>
__global__ void gru_cell_backward(View<const T, 2> input_gates, View<const T, 2> hidden_gates, View<const T, 2> hidden,
                                  View<const T, 2> gradient, View<T, 2> by_input_gates, View<T, 2> by_hidden_gates,
                                  View<T, 2> by_hidden) {
    using C = compute_t<T>;
    for_each_of_state(hidden, [&](size_t row, size_t column) {
        size_t width = hidden.extent(1);
        Gates<C> gates(input_gates, hidden_gates, width, row, column);
        C by_out = widen(gradient.at(row, column)), state = widen(hidden.at(row, column));
        C by_sum = by_out * (C(1) - gates.update) * (C(1) - gates.candidate * gates.candidate);
        C by_reset = by_sum * gates.hidden_candidate * gates.reset * (C(1) - gates.reset);
        C by_update = by_out * (state - gates.candidate) * gates.update * (C(1) - gates.update);
        by_input_gates.at(row, column) = by_hidden_gates.at(row, column) = narrow<T>(by_reset);
        by_input_gates.at(row, width + column) = by_hidden_gates.at(row, width + column) = narrow<T>(by_update);
        by_input_gates.at(row, 2 * width + column) = narrow<T>(by_sum);
        by_hidden_gates.at(row, 2 * width + column) = narrow<T>(by_sum * gates.reset);
        by_hidden.at(row, column) = narrow<T>(by_out * gates.update);
    });
}
