// The gates of recurrent cells: `[batch, gates * width]`, side by side in each row, for a state `[batch, width]`.
#pragma once

#include "dahl.cuh"

namespace dahl {

// 1 / (1 + exp(-x)).
template <class C> DAHL_DEVICE C logistic(C x) { return C(1) / (C(1) + exp(-x)); }

// Calls `body(row, column)` for each of this thread's elements of the state. For grid(blocks(state.len(), 256)), block(256).
template <class T, class Body> DAHL_DEVICE void for_each_of_state(const View<T, 2> &state, Body body) {
    for (size_t i = first_index(); i < state.len(); i += grid_threads()) {
        Division place = divide(i, state.extent(1));
        body(place.quotient, place.remainder);
    }
}

// The sum that enters gate `number` of an element of the state.
template <class T> DAHL_DEVICE compute_t<T> gate_of(const View<const T, 2> &gates, size_t width, size_t row, size_t column, size_t number) {
    return widen(gates.at(row, number * width + column));
}

} // namespace dahl
