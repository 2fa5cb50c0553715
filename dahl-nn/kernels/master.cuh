// Elements with a master copy (`src/optimizer/master.rs`): the element is the master copy, rounded, unless something else has written it
// since the last update.
#pragma once
#include "dahl.cuh"

namespace dahl {

// The value before an update.
template <class T, class S> DAHL_DEVICE compute_t<T> mastered(const T &value, const S &master) {
    compute_t<T> wide = compute_t<T>(master);
    return widen(narrow<T>(wide)) == widen(value) ? wide : widen(value);
}

// Writes the value after an update.
template <class T, class S> DAHL_DEVICE void set_mastered(T &value, S &master, compute_t<T> updated) {
    master = S(updated);
    value = narrow<T>(updated);
}

} // namespace dahl
