// Deviations: the sums from which a variance is computed.
#pragma once

#include "dahl.cuh"

namespace dahl {

// Sums of deviations from the mean and of their squares.
struct Deviations {
    double squares, rest;

    static DAHL_DEVICE Deviations identity() { return {0, 0}; }
    DAHL_DEVICE void add(double deviation) {
        squares += deviation * deviation;
        rest += deviation;
    }
    DAHL_DEVICE void merge(const Deviations &later) {
        squares += later.squares;
        rest += later.rest;
    }
};

} // namespace dahl
