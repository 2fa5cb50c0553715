// Products of all elements or along an axis, and their gradients.
//
//     product:           out = product of input[i]; 1 if there are none
//     product_backward:  out[i] = gradient * product of input[j], j != i; also where elements are 0
//     .._axis:           the same along one axis, at which out (or gradient) has extent 1
//
// A product has an exponent of its own, so that it neither overflows nor underflows on the way: in any order of folding
// it is the same up to rounding. For the gradient, each element is divided out of the product of all, which takes one
// fold instead of prefix and suffix products. Zeros and infinities, which cannot be divided out, are counted
// separately.
#include "fold.cuh"
#include "lanes.cuh"

using namespace dahl;

// `mantissa * SMALL^-exponent`; the mantissa is zero, infinite, NaN, or between BELOW and ABOVE, up to one factor of SMALL.
template <class C> struct Scaled {
    C mantissa;
    int32_t exponent;

    // Powers of two.
    static DAHL_DEVICE C power_of_2(int exponent) {
        if constexpr (sizeof(C) == 8) {
            return bits_as<double>(uint64_t(1023 + exponent) << 52);
        } else {
            return bits_as<float>(uint32_t(127 + exponent) << 23);
        }
    }
    static constexpr int SMALL = sizeof(C) == 8 ? 511 : 63;

    static DAHL_DEVICE Scaled of(C value) { return Scaled{value, 0}.normalised(); }

    DAHL_DEVICE Scaled normalised() const {
        Scaled result = *this;
        C above = power_of_2(SMALL / 2), below = power_of_2(-(SMALL / 2));
        while (fabs(result.mantissa) > above && is_finite(result.mantissa)) {
            result.mantissa *= power_of_2(-SMALL);
            result.exponent += 1;
        }
        while (fabs(result.mantissa) < below && result.mantissa != 0) {
            result.mantissa *= power_of_2(SMALL);
            result.exponent -= 1;
        }
        return result;
    }

    DAHL_DEVICE Scaled times(const Scaled &other) const {
        return Scaled{mantissa * other.mantissa, exponent + other.exponent}.normalised();
    }
    DAHL_DEVICE Scaled over(const Scaled &other) const {
        return Scaled{mantissa / other.mantissa, exponent - other.exponent}.normalised();
    }

    // The nearest number; infinity or zero if it is out of range, as it is for every mantissa after four factors.
    DAHL_DEVICE C value() const {
        C result = mantissa, factor = power_of_2(exponent > 0 ? SMALL : -SMALL);
        int32_t factors = exponent < 0 ? -exponent : exponent;
        for (int32_t i = 0; i < factors && i < 4; i++) result *= factor;
        return result;
    }
};

template <class C> struct Product {
    Scaled<C> all;

    static DAHL_DEVICE Product identity() { return {{C(1), 0}}; }
    DAHL_DEVICE void add(C x) { all = all.times(Scaled<C>::of(x)); }
    DAHL_DEVICE void merge(const Product &later) { all = all.times(later.all); }
};

// A product from which each factor can be divided out again.
template <class C> struct Others {
    Scaled<C> ordinary; // of what is finite and not zero
    uint32_t zeros, infinities, nans;
    uint32_t negatives; // among zeros and infinities

    static DAHL_DEVICE Others identity() { return {{C(1), 0}, 0, 0, 0, 0}; }

    static DAHL_DEVICE bool is_ordinary(C x) { return is_finite(x) && x != 0; }

    DAHL_DEVICE void add(C x) {
        if (is_ordinary(x)) {
            ordinary = ordinary.times(Scaled<C>::of(x));
        } else {
            count(x, 1);
        }
    }
    DAHL_DEVICE void merge(const Others &later) {
        ordinary = ordinary.times(later.ordinary);
        zeros += later.zeros;
        infinities += later.infinities;
        nans += later.nans;
        negatives += later.negatives;
    }

    // `factor` times the product of all but `x`, which is one of them.
    DAHL_DEVICE C without(C x, C factor) const {
        Others others = *this;
        if (is_ordinary(x)) {
            others.ordinary = ordinary.over(Scaled<C>::of(x));
        } else {
            others.count(x, -1);
        }
        Scaled<C> rest = others.ordinary.times(Scaled<C>::of(factor));
        // The mantissa has the sign, and does not underflow to zero, which would make NaN of an infinity.
        return others.has_extraordinary() ? rest.mantissa * others.extraordinary() : rest.value();
    }

  private:
    DAHL_DEVICE void count(C x, int by) {
        if (is_nan(x)) {
            nans += by;
        } else {
            (x == 0 ? zeros : infinities) += by;
            if (is_negative(x)) negatives += by;
        }
    }
    DAHL_DEVICE bool has_extraordinary() const { return zeros > 0 || infinities > 0 || nans > 0; }
    // The product of the zeros, infinities and NaN.
    DAHL_DEVICE C extraordinary() const {
        if (nans > 0 || (zeros > 0 && infinities > 0)) return Limits<C>::nan();
        C size = zeros > 0 ? C(0) : infinities > 0 ? Limits<C>::infinity() : C(1);
        return negatives % 2 == 0 ? size : -size;
    }
};

template <class T> __global__ void product_parts(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Product<compute_t<T>>>(scratch, [](auto &product, T element) { product.add(widen(element)); }, elements);
}

DAHL_KERNEL(product, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(product_parts, grid(blocks(input.len(), 2048)), block(256)), pass(product, grid(1), block(256)))
template <class T> __global__ void product(View<const T, ANY> input, View<T, 0> out, Scratch scratch) {
    auto product = fold_of_parts<Product<compute_t<T>>>(input.len(), scratch);
    if (threadIdx.x == 0) out.at() = narrow<T>(product.all.value());
}

template <Pass pass, class T>
DAHL_DEVICE void product_of_lanes(const View<const T, ANY> &input, const View<T, ANY> &out, size_t axis, const Scratch &scratch) {
    Lanes<const T> lanes(input, axis);
    Elements<T> products(out);
    fold_lanes<Product<compute_t<T>>, pass>(
        lanes, scratch, [](auto &product, T element) { product.add(widen(element)); },
        [&](size_t lane, auto &product) { products[lane] = narrow<T>(product.all.value()); });
}

template <class T>
__global__ void product_axis_parts(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    product_of_lanes<Pass::Parts>(input, out, axis, scratch);
}

DAHL_KERNEL(product_axis, types(T: real), scratch(32 * min(input.len() / 128, 131072)),
            pass(product_axis_parts, grid(max(blocks(out.len(), 8), blocks(input.len(), 1024))), block(32, 8)),
            pass(product_axis, grid(blocks(out.len(), 8) * min(input.len() / 65536, 1) * min(16384 / (out.len() + 1), 1)), block(32, 8)))
template <class T> __global__ void product_axis(View<const T, ANY> input, View<T, ANY> out, size_t axis, Scratch scratch) {
    product_of_lanes<Pass::Last>(input, out, axis, scratch);
}

template <class T>
__global__ void product_backward_parts(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    Elements<const T> elements(input);
    fold_parts<Others<compute_t<T>>>(scratch, [](auto &others, T element) { others.add(widen(element)); }, elements);
}

DAHL_KERNEL(product_backward, types(T: real), scratch(32 * blocks(input.len(), 2048)),
            pass(product_backward_parts, grid(blocks(input.len(), 2048)), block(256)),
            pass(product_backward, grid(blocks(input.len(), 2048)), block(256)))
template <class T>
__global__ void product_backward(View<const T, ANY> input, View<const T, 0> gradient, View<T, ANY> out, Scratch scratch) {
    Elements<const T> from(input);
    Elements<T> to(out);
    auto all = fold_of_parts<Others<compute_t<T>>>(from.len, scratch);
    for (size_t i = first_index(); i < to.len; i += grid_threads()) {
        to[i] = narrow<T>(all.without(widen(from[i]), widen(gradient.at())));
    }
}

DAHL_KERNEL(product_axis_backward, types(T: real), grid(blocks(gradient.len(), 8)), block(32, 8))
template <class T>
__global__ void product_axis_backward(View<const T, ANY> input, View<const T, ANY> gradient, View<T, ANY> out, size_t axis) {
    using C = compute_t<T>;
    Lanes<const T> inputs(input, axis), gradients(gradient, axis);
    Lanes<T> outs(out, axis);
    for_each_lane(inputs.count(), inputs.extent, inputs.after, [&](const LaneShare &share, size_t lane) {
        Lane<const T> from = inputs[lane];
        Lane<T> to = outs[lane];
        auto all = Others<C>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) all.add(widen(from[i]));
        all = share.fold(all);
        C factor = widen(gradients[lane][0]);
        for (size_t i = share.first; i < share.end; i += share.step) to[i] = narrow<T>(all.without(widen(from[i]), factor));
    });
}
