// Building blocks of the kernels of maps: the functions of `Real`, and the loop over elements. Such kernels are
// generated: `#[codelet]` and `dahl-build` translate the body of the declaration.
//
// Arithmetic, comparisons, rounding to integers, `sqrt`, `recip`, `mul_add`, `max` and `min` give the same bits as on
// the CPU. The elementary functions are those of CUDA's mathematical library, whose errors its programming guide
// states.
#pragma once
#include "dahl.cuh"

namespace dahl {
namespace real {

// Functions of CUDA's library, in both precisions. On a CPU, those of float are rounded from double: the tests check
// the translation, not the errors of C's functions of float.
#ifdef DAHL_ON_CPU
#define DAHL_FUNCTION_OF_FLOAT(function, ...) float(::function(__VA_ARGS__))
#define DAHL_ARGUMENT_OF_FLOAT(x) double(x)
#else
#define DAHL_FUNCTION_OF_FLOAT(function, ...) ::function##f(__VA_ARGS__)
#define DAHL_ARGUMENT_OF_FLOAT(x) x
#endif

#define DAHL_FUNCTION(name, function)                                                                                  \
    DAHL_DEVICE float name(float x) { return DAHL_FUNCTION_OF_FLOAT(function, DAHL_ARGUMENT_OF_FLOAT(x)); }            \
    DAHL_DEVICE double name(double x) { return ::function(x); }
DAHL_FUNCTION(abs, fabs)
DAHL_FUNCTION(acos, acos)
DAHL_FUNCTION(acosh, acosh)
DAHL_FUNCTION(asin, asin)
DAHL_FUNCTION(asinh, asinh)
DAHL_FUNCTION(atan, atan)
DAHL_FUNCTION(atanh, atanh)
DAHL_FUNCTION(cbrt, cbrt)
DAHL_FUNCTION(ceil, ceil)
DAHL_FUNCTION(cos, cos)
DAHL_FUNCTION(cosh, cosh)
DAHL_FUNCTION(erf, erf)
DAHL_FUNCTION(erfc, erfc)
DAHL_FUNCTION(exp, exp)
DAHL_FUNCTION(exp2, exp2)
DAHL_FUNCTION(exp_m1, expm1)
DAHL_FUNCTION(floor, floor)
DAHL_FUNCTION(ln, log)
DAHL_FUNCTION(ln_1p, log1p)
DAHL_FUNCTION(log10, log10)
DAHL_FUNCTION(log2, log2)
DAHL_FUNCTION(round, round)
DAHL_FUNCTION(round_ties_even, rint)
DAHL_FUNCTION(sin, sin)
DAHL_FUNCTION(sinh, sinh)
DAHL_FUNCTION(sqrt, sqrt)
DAHL_FUNCTION(tan, tan)
DAHL_FUNCTION(tanh, tanh)
DAHL_FUNCTION(trunc, trunc)
#undef DAHL_FUNCTION

#define DAHL_FUNCTION_OF_TWO(name, function)                                                                           \
    DAHL_DEVICE float name(float x, float y) {                                                                         \
        return DAHL_FUNCTION_OF_FLOAT(function, DAHL_ARGUMENT_OF_FLOAT(x), DAHL_ARGUMENT_OF_FLOAT(y));                 \
    }                                                                                                                  \
    DAHL_DEVICE double name(double x, double y) { return ::function(x, y); }
DAHL_FUNCTION_OF_TWO(atan2, atan2)
DAHL_FUNCTION_OF_TWO(copysign, copysign)
DAHL_FUNCTION_OF_TWO(hypot, hypot)
DAHL_FUNCTION_OF_TWO(powf, pow)
// The larger and the smaller of two; if one is NaN, the other one: like the methods of Rust's types `f32` and `f64`.
DAHL_FUNCTION_OF_TWO(max_number, fmax)
DAHL_FUNCTION_OF_TWO(min_number, fmin)
// The remainder, with the sign of `x`.
DAHL_FUNCTION_OF_TWO(remainder, fmod)
#undef DAHL_FUNCTION_OF_TWO
#undef DAHL_FUNCTION_OF_FLOAT
#undef DAHL_ARGUMENT_OF_FLOAT

DAHL_DEVICE float mul_add(float x, float factor, float summand) { return ::fmaf(x, factor, summand); }
DAHL_DEVICE double mul_add(double x, double factor, double summand) { return ::fma(x, factor, summand); }

template <class C> DAHL_DEVICE C max(C x, C y) { return maximum(x, y); }
template <class C> DAHL_DEVICE C min(C x, C y) { return minimum(x, y); }
template <class C> DAHL_DEVICE C clamp(C x, C low, C high) { return minimum(maximum(x, low), high); }
// The number limited to `low ..= high`; NaN for NaN.
template <class C> DAHL_DEVICE C clamp_number(C x, C low, C high) { return x < low ? low : x > high ? high : x; }
template <class C> DAHL_DEVICE C recip(C x) { return C(1) / x; }
template <class C> DAHL_DEVICE C fract(C x) { return x - trunc(x); }
template <class C> DAHL_DEVICE C log(C x, C base) { return ln(x) / ln(base); }
template <class C> DAHL_DEVICE C signum(C x) { return is_nan(x) ? x : copysign(C(1), x); }

template <class C> DAHL_DEVICE C powi(C x, int32_t exponent) {
    uint32_t left = exponent < 0 ? 0u - uint32_t(exponent) : uint32_t(exponent);
    C square = x, product = C(1);
    for (; left > 0; left >>= 1) {
        if (left & 1) product *= square;
        square *= square;
    }
    return exponent < 0 ? C(1) / product : product;
}

DAHL_DEVICE float to_degrees(float x) { return x * 57.2957795130823208767981548141051703f; }
DAHL_DEVICE double to_degrees(double x) { return x * (180.0 / 3.14159265358979323846264338327950288); }
DAHL_DEVICE float to_radians(float x) { return x * (3.14159265358979323846264338327950288f / 180.0f); }
DAHL_DEVICE double to_radians(double x) { return x * (3.14159265358979323846264338327950288 / 180.0); }

template <class C> DAHL_DEVICE bool is_nan(C x) { return dahl::is_nan(x); }
template <class C> DAHL_DEVICE bool is_finite(C x) { return dahl::is_finite(x); }
template <class C> DAHL_DEVICE bool is_infinite(C x) { return !dahl::is_finite(x) && !dahl::is_nan(x); }
template <class C> DAHL_DEVICE bool is_normal(C x) {
    return dahl::is_finite(x) && abs(x) >= Limits<C>::min_positive();
}
template <class C> DAHL_DEVICE bool is_sign_negative(C x) { return is_negative(x); }
template <class C> DAHL_DEVICE bool is_sign_positive(C x) { return !is_negative(x); }

// Constants that differ between the precisions.
template <class C> DAHL_DEVICE C infinity() { return Limits<C>::infinity(); }
template <class C> DAHL_DEVICE C nan() { return Limits<C>::nan(); }
template <class C> DAHL_DEVICE C min_positive() { return Limits<C>::min_positive(); }
template <class C> DAHL_DEVICE C epsilon();
template <> DAHL_DEVICE float epsilon<float>() { return bits_as<float>(uint32_t(127 - 23) << 23); }
template <> DAHL_DEVICE double epsilon<double>() { return bits_as<double>(uint64_t(1023 - 52) << 52); }
template <class C> DAHL_DEVICE C largest();
template <> DAHL_DEVICE float largest<float>() { return bits_as<float>(uint32_t(0x7F7FFFFF)); }
template <> DAHL_DEVICE double largest<double>() { return bits_as<double>(uint64_t(0x7FEFFFFFFFFFFFFF)); }

// Integers, which wrap around.
template <class I> DAHL_DEVICE I wrapping_add(I x, I y) { return I(uint64_t(x) + uint64_t(y)); }
template <class I> DAHL_DEVICE I wrapping_sub(I x, I y) { return I(uint64_t(x) - uint64_t(y)); }
template <class I> DAHL_DEVICE I wrapping_mul(I x, I y) { return I(uint64_t(x) * uint64_t(y)); }

} // namespace real

// ---------------------------------------------------------------------------------------------------------------------
// The loop of a map.

template <size_t... I> struct Indices {};
template <size_t N, size_t... I> struct IndicesBelow : IndicesBelow<N - 1, N - 1, I...> {};
template <size_t... I> struct IndicesBelow<0, I...> {
    using type = Indices<I...>;
};

// Elements that one instruction loads or stores.
template <class T, int N> struct alignas(sizeof(T) * N) Pack {
    T items[N];
};

// The size of the widest of several types.
template <class First, class... Rest> struct Widest {
    static constexpr size_t of_rest = Widest<Rest...>::size;
    static constexpr size_t size = of_rest > sizeof(First) ? of_rest : sizeof(First);
};
template <class First> struct Widest<First> {
    static constexpr size_t size = sizeof(First);
};

template <class T> struct Stored {
    using type = T;
};
template <class T> struct Stored<const T> {
    using type = T;
};

// N elements as a map has them in registers: what it reads is loaded, and what it writes is stored.
template <int N, class T> using PackOf = Pack<typename Stored<T>::type, N>;
template <int N, class T> DAHL_DEVICE PackOf<N, const T> load_pack(const View<const T, ANY> &view, size_t p) {
    return reinterpret_cast<const Pack<T, N> *>(view.data)[p];
}
template <int N, class T> DAHL_DEVICE PackOf<N, T> load_pack(const View<T, ANY> &, size_t) { return PackOf<N, T>(); }
template <int N, class T> DAHL_DEVICE void store_pack(const View<const T, ANY> &, size_t, const Pack<T, N> &) {}
template <int N, class T> DAHL_DEVICE void store_pack(const View<T, ANY> &view, size_t p, const Pack<T, N> &pack) {
    reinterpret_cast<Pack<T, N> *>(view.data)[p] = pack;
}

template <int N, class Body, class... T>
DAHL_DEVICE void map_pack(size_t p, Body &body, const View<T, ANY> &...operands, PackOf<N, T>... packs) {
#pragma unroll
    for (int i = 0; i < N; i++) body(static_cast<T &>(packs.items[i])...);
    (store_pack<N>(operands, p, packs), ...);
}

template <int N, class T> DAHL_DEVICE bool is_aligned(const View<T, ANY> &view) {
    return size_t(view.data) % (sizeof(T) * N) == 0;
}

// Whether the elements are contiguous in row-major order of these extents.
template <class T> DAHL_DEVICE bool follows(const View<T, ANY> &view, const uint64_t *extents) {
    uint64_t expected = 1;
#pragma unroll 1
    for (int axis = view.rank() - 1; axis >= 0; axis--) {
        uint64_t extent = extents[axis];
        if (view.extents[axis] != extent || (extent != 1 && uint64_t(view.strides[axis]) != expected)) return false;
        expected *= extent;
    }
    return true;
}

// For views that are not contiguous in row-major order of these extents, and those with a broadcast axis.
template <class Body, class... T, size_t... I>
DAHL_DEVICE void map_strided(size_t len, int rank, const uint64_t *extents, Body &body, Indices<I...>,
                             const View<T, ANY> &...operands) {
#pragma unroll 1
    for (size_t i = first_index(); i < len; i += grid_threads()) {
        int64_t places[sizeof...(T)] = {};
        size_t rest = i;
#pragma unroll 1
        for (int axis = rank - 1; axis >= 0; axis--) {
            Division step = divide(rest, extents[axis]);
            const int64_t strides[] = {(operands.extents[axis] == 1 ? 0 : operands.strides[axis])...};
            ((places[I] += int64_t(step.remainder) * strides[I]), ...);
            rest = step.quotient;
        }
        body(operands.data[places[I]]...);
    }
}

// body(operand[i]..) for each element i of a view `all`, on all threads of the grid: with references to an element of each operand.
// Those of `const` elements are read, and stretch to the extents of `all`; the others have these extents, and are written. Contiguous
// arrays are loaded and stored 16 bytes at a time (of the widest type). What is written may also be one of those that are read.
template <class All, class Body, class... T>
DAHL_DEVICE void map_together(const View<All, ANY> &all, Body body, const View<T, ANY> &...operands) {
    constexpr int N = 16 / Widest<T...>::size;
    size_t len = 1;
#pragma unroll 1
    for (int axis = 0; axis < all.rank(); axis++) len *= all.extents[axis];
    if (!(... && follows(operands, all.extents))) {
        map_strided(len, all.rank(), all.extents, body, typename IndicesBelow<sizeof...(T)>::type(), operands...);
        return;
    }
    bool aligned = (... && is_aligned<N>(operands));
    size_t packs = aligned ? len / N : 0;
#pragma unroll 1
    for (size_t p = first_index(); p < packs; p += grid_threads()) {
        map_pack<N, Body, T...>(p, body, operands..., load_pack<N>(operands, p)...);
    }
#pragma unroll 1
    for (size_t i = packs * N + first_index(); i < len; i += grid_threads()) body(operands.data[i]...);
}

// out[i] = body(in[i], ..), likewise.
template <class Out, class Body, class... In>
DAHL_DEVICE void map_elements(const View<Out, ANY> &out, Body body, const View<const In, ANY> &...in) {
    map_together(out, [=](const In &...read, Out &written) { written = body(read...); }, in..., out);
}

} // namespace dahl
