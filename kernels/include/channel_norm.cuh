// Channels that are normalised, as by `batch_norm` and `group_norm`: the mean and the variance of a set of elements by
// which they are normalised, and the sums of the gradient.
//
// The mean is computed first and subtracted, so that nothing cancels, and its rounding error is corrected for, as in
// `variance.cu`. Sums are in double, also of floats: these kernels wait for memory, not for arithmetic.
#pragma once

#include "deviations.cuh"
#include "fold.cuh"
#include "planes.cuh"

namespace dahl {

// What normalises the elements of a set: `(element - mean) / sqrt(variance + epsilon)`.
template <class C> struct Normaliser {
    // The mean, and what rounding left out of it.
    C mean, rest;
    C inverse;
    double exact_mean, variance;

    // Of a set of `count` elements, from their sum and their deviations from `sum / count`.
    static DAHL_DEVICE Normaliser of(double sum, const Deviations &sums, double count, C epsilon) {
        Normaliser result;
        double mean = sum / count, rest = sums.rest / count;
        result.mean = C(mean);
        result.rest = C((mean - double(result.mean)) + rest);
        result.exact_mean = mean + rest;
        result.variance = maximum((sums.squares - sums.rest * rest) / count, 0.0);
        result.inverse = C(1.0 / sqrt(result.variance + double(epsilon)));
        return result;
    }

    DAHL_DEVICE C centred(C element) const { return element - mean - rest; }
};

// Sums of the gradient by normalised elements, and of its products with them.
struct GradientSums {
    double gradient, product;

    static DAHL_DEVICE GradientSums identity() { return {0, 0}; }
    template <class C> DAHL_DEVICE void add(const Normaliser<C> &normaliser, C element, C by_element) {
        gradient += double(by_element);
        product += double(by_element) * (double(normaliser.centred(element)) * double(normaliser.inverse));
    }
    DAHL_DEVICE void add_weighted(const GradientSums &sums, double weight) {
        gradient += weight * sums.gradient;
        product += weight * sums.product;
    }
    DAHL_DEVICE void merge(const GradientSums &later) {
        gradient += later.gradient;
        product += later.product;
    }
};

// The gradient by an element, of the gradient by its normalised value times its weight, and the means over the set of
// that gradient and of its products with the normalised elements.
template <class C> DAHL_DEVICE C by_normalised(const Normaliser<C> &normaliser, C element, C weighted, C offset, C slope) {
    return (weighted - offset - normaliser.centred(element) * normaliser.inverse * slope) * normaliser.inverse;
}

} // namespace dahl
