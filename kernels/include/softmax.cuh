// SoftmaxParts: the two numbers of a lane that each element of its softmax needs.
#pragma once

#include "fold.cuh"
#include "lanes.cuh"

namespace dahl {

template <class C> struct SoftmaxParts {
    // The largest element; NaN if one is.
    C largest;
    // The sum of exp(element - largest).
    C sum;

    // Those of the lane that threads share; all of them must call it.
    template <class T> static DAHL_DEVICE SoftmaxParts of(const LaneShare &share, const Lane<const T> &lane) {
        auto extreme = Extreme<C, 1>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) extreme.add(widen(lane[i]));
        C largest = share.fold(extreme).value;
        auto sum = Sum<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) sum.add(exp(widen(lane[i]) - largest));
        return {largest, share.fold(sum).value};
    }

    DAHL_DEVICE C softmax(C element) const { return exp(element - largest) / sum; }
};

} // namespace dahl
