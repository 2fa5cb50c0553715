// Labels: integers that number classes from 0.
#pragma once

#include "dahl.cuh"

namespace dahl {

// Whether a label is one of `classes`: neither below zero nor too large.
template <class L> DAHL_DEVICE bool is_class(L label, size_t classes) {
    return !(L(-1) < L(0) && label < L(0)) && uint64_t(label) < classes;
}

} // namespace dahl
