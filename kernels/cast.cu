// cast: out = input, converted to the output's element type.
//
//     to a real type:           rounded once, to nearest, ties to even
//     from a real to an integer: the fraction is dropped; what is out of range becomes the nearest integer, NaN 0
//     from integer to integer:   the low bits are kept
//
// These are Rust's rules, written out because C++ leaves out-of-range conversions undefined. Where both arrays are
// contiguous, a thread converts as many elements as fill 16 bytes of the wider type; otherwise one.
#include "map.cuh"

using namespace dahl;

// A 64-bit integer as a double, rounded to odd: the last bit is set if bits were cut off. So rounding the double to 16
// bits gives the same as rounding the integer directly.
DAHL_DEVICE double to_odd_double(int64_t x) {
    uint64_t magnitude = x < 0 ? 0 - uint64_t(x) : uint64_t(x);
    if (magnitude >> 53 == 0) return double(x);
    uint64_t cut = (uint64_t(1) << 10) - 1;
    uint64_t kept = (uint64_t(x) & ~cut) | uint64_t((uint64_t(x) & cut) != 0) << 10;
    return double(int64_t(kept));
}

template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<f16> = true;
template <> constexpr bool is_real<bf16> = true;
template <> constexpr bool is_real<float> = true;
template <> constexpr bool is_real<double> = true;

template <class U, class T> DAHL_DEVICE U converted(T x) {
    if constexpr (is_real<T> && is_real<U>) {
        // A double holds every value.
        return from_double<U>(double(widen(x)));
    } else if constexpr (is_real<T>) {
        auto value = widen(x);
        using C = decltype(value);
        U lowest = Limits<U>::lowest(), highest = Limits<U>::highest();
        if (is_nan(value)) return U(0);
        // The upper limit may round up to a number that is out of range itself.
        if (value >= C(highest)) return highest;
        return value <= C(lowest) ? lowest : U(value);
    } else if constexpr (is_real<U> && sizeof(U) == 2) {
        return from_double<U>(to_odd_double(int64_t(x)));
    } else {
        return U(x);
    }
}

DAHL_KERNEL(cast, types(T: element, U: element), grid(blocks(out.len(), 1024)), block(256))
template <class T, class U> __global__ void cast(View<const T, ANY> input, View<U, ANY> out) {
    Elements<const T> from(input);
    Elements<U> to(out);
    constexpr int EACH = 16 / Widest<T, U>::size;
    size_t done = 0;
    if (from.contiguous && to.contiguous && is_aligned<EACH>(input) && is_aligned<EACH>(out)) {
        auto packs = reinterpret_cast<const Pack<T, EACH> *>(input.data);
        auto to_packs = reinterpret_cast<Pack<U, EACH> *>(out.data);
        done = to.len / EACH * EACH;
        for (size_t i = first_index(); i < done / EACH; i += grid_threads()) {
            Pack<T, EACH> pack = packs[i];
            Pack<U, EACH> result;
#pragma unroll
            for (int item = 0; item < EACH; item++) result.items[item] = converted<U>(pack.items[item]);
            to_packs[i] = result;
        }
    }
    for (size_t i = done + first_index(); i < to.len; i += grid_threads()) to[i] = converted<U>(from[i]);
}
