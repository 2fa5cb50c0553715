// FirstExtreme: the first largest or smallest of some elements, with its index.
#pragma once

#include "dahl.cuh"

namespace dahl {

// The largest (`sign` 1) or smallest (`sign` -1): the first of equal ones. The first NaN comes before everything.
template <class C, int sign> struct FirstExtreme {
    // The index is NONE as long as there is no element.
    static constexpr uint64_t NONE = ~uint64_t(0);
    uint64_t index;
    union {
        C value;
        uint64_t bits;
    };

    static DAHL_DEVICE FirstExtreme identity() {
        FirstExtreme found;
        found.index = NONE;
        found.bits = 0;
        return found;
    }

    DAHL_DEVICE void add(C other, uint64_t at) {
        if (index == NONE || comes_before(other, at)) {
            value = other;
            index = at;
        }
    }
    DAHL_DEVICE void merge(const FirstExtreme &other) {
        if (other.index != NONE) add(other.value, other.index);
    }

  private:
    DAHL_DEVICE bool comes_before(C other, uint64_t at) const {
        if (is_nan(other) || is_nan(value)) return is_nan(other) && (!is_nan(value) || at < index);
        if (other == value) return at < index;
        return sign > 0 ? other > value : other < value;
    }
};

} // namespace dahl
