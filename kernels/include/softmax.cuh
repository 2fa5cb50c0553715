// SoftmaxParts: the two numbers of a lane that each element of its softmax needs.
#pragma once

#include "extreme.cuh"
#include "fold.cuh"
#include "lanes.cuh"

namespace dahl {

template <class C> struct SoftmaxParts {
    // The largest element; NaN if one is.
    C largest;
    // The sum of exp(element - largest) of all elements but the first of the largest, whose term is 1: so that it keeps its
    // digits where it is small. NaN if the largest is not finite.
    C rest;
    // The place of the first of the largest elements.
    uint64_t first;

    // Those of the lane that threads share; all of them must call it.
    template <class T> static DAHL_DEVICE SoftmaxParts of(const LaneShare &share, const Lane<const T> &lane) {
        auto first = FirstExtreme<C, 1>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) first.add(widen(lane[i]), i);
        first = share.fold(first);
        auto rest = Sum<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) {
            if (i != first.index) rest.add(exp(widen(lane[i]) - first.value));
        }
        return {first.value, share.fold(rest).value + (first.value - first.value), first.index};
    }

    DAHL_DEVICE C softmax(C element) const { return exp(element - largest) / (C(1) + rest); }
    // softmax(element) - 1 of element `i`: of the largest one minus the sum of the others' probabilities.
    DAHL_DEVICE C softmax_less_one(C element, uint64_t i) const { return i == first ? -(rest / (C(1) + rest)) : softmax(element) - C(1); }
    // ln of the sum of exp(element - largest) of all elements.
    DAHL_DEVICE C logarithm() const { return log1p(rest); }
};

} // namespace dahl
