// Seeded random numbers.
//
//     uniform:  out[i] = low + (high - low) * u(seed, offset + i), below high
//     normal:   out[i] = mean + deviation * n(seed, offset + i)
//
// Each element depends on the seed and its index alone (`include/philox.cuh`), so a thread computes its own elements,
// and an array that is filled in parts, on any device, has the same numbers as one that is filled whole. A block of the
// cipher gives two numbers, so a thread computes and writes two elements. Numbers are computed in double and rounded
// once.
//
// Normal numbers are Box and Muller's (1958). The logarithm is written out, so that it has the same bits as on the CPU.
#include "philox.cuh"

using namespace dahl;

// The natural logarithm of a number in (0, 1]: 2^k * (1 + f), ln(1 + f) = f - (f^2 / 2 - s * (f^2 / 2 + R(s^2))) with s
// = f / (2 + f). From FreeBSD's e_log.c (Sun Microsystems, 1993), with the same operations as `Real::ln`.
DAHL_DEVICE double logarithm(double x) {
    const uint64_t one = uint64_t(0x3FF) << 52, sqrt_half = 0x3FE6A09E667F3BCD;
    uint64_t bits = bits_as<uint64_t>(x) + (one - sqrt_half);
    double k = double(int64_t(bits >> 52)) - 1023.0;
    double f = bits_as<double>((bits & ((uint64_t(1) << 52) - 1)) + sqrt_half) - 1.0;
    double s = f / (2.0 + f), square = s * s, half = 0.5 * f * f;
    double sum = 1.479819860511658591e-01;
    sum = sum * square + 1.531383769920937332e-01;
    sum = sum * square + 1.818357216161805012e-01;
    sum = sum * square + 2.222219843214978396e-01;
    sum = sum * square + 2.857142874366239149e-01;
    sum = sum * square + 3.999999999940941908e-01;
    sum = sum * square + 6.666666666666735130e-01;
    double rest = s * (half + square * sum);
    return rest + k * 1.90821492927058770002e-10 - half + f + k * 6.93147180369123816490e-01;
}

// Writes the pair of each block of the sequence to the elements with its indices.
template <class T, class Make> DAHL_DEVICE void fill_pairs(const View<T, ANY> &out, uint64_t seed, uint64_t offset, Make make) {
    Elements<T> elements(out);
    size_t pairs = elements.len / 2 + 1; // an odd offset begins with the second number of a pair
    for (size_t pair = first_index(); pair < pairs; pair += grid_threads()) {
        UniformPair numbers = make(uniform_pair(seed, offset / 2 + pair));
        size_t second = 2 * pair + 1 - offset % 2, first = second - 1;
        if (second > 0 && first < elements.len) elements[first] = from_double<T>(numbers.first);
        if (second < elements.len) elements[second] = from_double<T>(numbers.second);
    }
}

// The bits of an element as a number.
template <int BYTES> struct BitsOf;
template <> struct BitsOf<2> { using Type = uint16_t; };
template <> struct BitsOf<4> { using Type = uint32_t; };
template <> struct BitsOf<8> { using Type = uint64_t; };

// The largest element below x, which is no NaN and not negative infinity. Numbers of one sign are ordered as their bits are.
template <class T> DAHL_DEVICE T next_down(T x) {
    using Bits = typename BitsOf<sizeof(T)>::Type;
    const Bits sign = Bits(1) << (8 * sizeof(T) - 1);
    Bits bits = bits_as<Bits>(x);
    if (Bits(bits & Bits(~sign)) == 0) return bits_as<T>(Bits(sign | 1));
    return bits_as<T>(Bits(bits & sign ? bits + 1 : bits - 1));
}

// The number between two bounds that u in [0, 1) stands for. The width of an interval of finite numbers need not be finite.
DAHL_DEVICE double between(double low, double high, double u) {
    double width = high - low;
    return width <= 1.7976931348623157e308 ? low + width * u : low * (1.0 - u) + high * u;
}

DAHL_KERNEL(uniform, types(T: real), grid(blocks(out.len() / 2 + 1, 256)), block(256))
template <class T> __global__ void uniform(View<T, ANY> out, double low, double high, uint64_t seed, uint64_t offset) {
    // Rounding may reach the end of the interval, which is not part of it.
    T first = from_double<T>(low), end = from_double<T>(high), last = first;
    if (widen(first) < widen(end)) {
        last = next_down(end);
        if (widen(last) < widen(first)) last = first;
    }
    auto rounded = [=](double value) {
        T element = from_double<T>(value);
        return double(widen(widen(element) < widen(end) ? element : last));
    };
    fill_pairs(out, seed, offset, [=](UniformPair u) {
        return UniformPair{rounded(between(low, high, u.first)), rounded(between(low, high, u.second))};
    });
}

DAHL_KERNEL(normal, types(T: real), grid(blocks(out.len() / 2 + 1, 256)), block(256))
template <class T> __global__ void normal(View<T, ANY> out, double mean, double deviation, uint64_t seed, uint64_t offset) {
    fill_pairs(out, seed, offset, [=](UniformPair u) {
        double radius = deviation * sqrt(-2.0 * logarithm(1.0 - u.first)); // of (0, 1]
        double angle = 2.0 * 3.14159265358979323846 * u.second;
        return UniformPair{mean + radius * cos(angle), mean + radius * sin(angle)};
    });
}
