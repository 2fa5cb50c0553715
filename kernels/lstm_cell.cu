// A step of a long short-term memory without its matrix products, and its gradients.
//
//     lstm_cell:           next = sigmoid(f) * cell + sigmoid(i) * tanh(g), hidden = sigmoid(o) * tanh(next)
//     lstm_cell_backward:  the gradients by the gates and by the cell, of those by the outputs
//
// where a row of `gates: [batch, 4 * width]` has the gates i, f, g and o side by side, and all others are [batch, width].
//
// One thread computes an element of the state: it reads its four gates, each once, a width apart, and neighbouring threads
// read neighbouring elements of each gate. The gradient computes the gates again instead of reading what they became: that
// costs a few exponentials, and the kernel waits for memory.
#include "gate.cuh"

using namespace dahl;

DAHL_KERNEL(lstm_cell, types(T: real), grid(blocks(cell.len(), 256)), block(256))
template <class T>
__global__ void lstm_cell(View<const T, 2> gates, View<const T, 2> cell, View<T, 2> hidden, View<T, 2> next) {
    using C = compute_t<T>;
    for_each_of_state(cell, [&](size_t row, size_t column) {
        auto gate = [&](size_t number) { return gate_of(gates, cell.extent(1), row, column, number); };
        C kept = logistic(gate(1)) * widen(cell.at(row, column));
        C state = kept + logistic(gate(0)) * tanh(gate(2));
        next.at(row, column) = narrow<T>(state);
        hidden.at(row, column) = narrow<T>(logistic(gate(3)) * tanh(state));
    });
}

DAHL_KERNEL(lstm_cell_backward, types(T: real), grid(blocks(cell.len(), 256)), block(256))
template <class T>
__global__ void lstm_cell_backward(View<const T, 2> gates, View<const T, 2> cell, View<const T, 2> next, View<const T, 2> by_hidden,
                                   View<const T, 2> by_next, View<T, 2> by_gates, View<T, 2> by_cell) {
    using C = compute_t<T>;
    for_each_of_state(cell, [&](size_t row, size_t column) {
        size_t width = cell.extent(1);
        C input = logistic(gate_of(gates, width, row, column, 0)), forget = logistic(gate_of(gates, width, row, column, 1));
        C candidate = tanh(gate_of(gates, width, row, column, 2)), output = logistic(gate_of(gates, width, row, column, 3));
        C squashed = tanh(widen(next.at(row, column))), of_hidden = widen(by_hidden.at(row, column));
        C by_state = widen(by_next.at(row, column)) + of_hidden * output * (C(1) - squashed * squashed);
        C slopes[4] = {by_state * candidate * input * (C(1) - input),
                       by_state * widen(cell.at(row, column)) * forget * (C(1) - forget),
                       by_state * input * (C(1) - candidate * candidate), of_hidden * squashed * output * (C(1) - output)};
#pragma unroll
        for (size_t gate = 0; gate < 4; gate++) by_gates.at(row, gate * width + column) = narrow<T>(slopes[gate]);
        by_cell.at(row, column) = narrow<T>(by_state * forget);
    });
}
