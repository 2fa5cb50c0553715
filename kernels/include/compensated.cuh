// Compensated: a sum whose rounding errors are summed beside it (Neumaier 1974, Rundungsfehleranalyse einiger Verfahren zur
// Summation endlicher Summen), as on the CPU, for sums whose terms come in no particular order.
#pragma once

#include "dahl.cuh"

namespace dahl {

template <class C> struct Compensated {
    C sum, error;

    static DAHL_DEVICE Compensated identity() { return {C(0), C(0)}; }
    DAHL_DEVICE void add(C term) {
        C total = sum + term;
        error += fabs(sum) >= fabs(term) ? (sum - total) + term : (term - total) + sum;
        sum = total;
    }
    DAHL_DEVICE void merge(const Compensated &later) {
        add(later.sum);
        error += later.error;
    }
    // The sum with its error, unless it is not finite: it has no error then.
    DAHL_DEVICE C value() const { return is_finite(sum) ? sum + error : sum; }
};

} // namespace dahl
