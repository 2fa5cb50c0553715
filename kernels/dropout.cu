// dropout: out[i] = 0 if number i of a sequence is below the probability, else input[i] / (1 - probability).
//
// The sequence is that of `uniform` in float, between 0 and 1 (`random.cu`), so it has the bits of the CPU's, and the
// gradient is the same operation: no mask is stored. A block of the cipher (`include/philox.cuh`) gives two numbers, so a
// thread computes two elements. The rounds of the cipher take longer than the memory does.
#include "philox.cuh"

using namespace dahl;

// A number in [0, 1) with 53 bits as a float below 1.
DAHL_DEVICE float below_one(double number) {
    float rounded = float(number);
    return rounded < 1.0f ? rounded : bits_as<float>(uint32_t(0x3F7FFFFF));
}

DAHL_KERNEL(dropout, types(T: real), grid(blocks(out.len() / 2 + 1, 256)), block(256))
template <class T>
__global__ void dropout(View<const T, ANY> input, View<T, ANY> out, double probability, uint64_t seed, uint64_t offset) {
    using C = compute_t<T>;
    Elements<const T> from(input);
    Elements<T> to(out);
    C factor = C(1.0 / (1.0 - probability));
    float limit = float(probability);
    auto write = [&](size_t i, double number) {
        to[i] = narrow<T>(below_one(number) < limit ? C(0) : widen(from[i]) * factor);
    };
    size_t pairs = to.len / 2 + 1; // an odd offset begins with the second number of a pair
    for (size_t pair = first_index(); pair < pairs; pair += grid_threads()) {
        UniformPair numbers = uniform_pair(seed, offset / 2 + pair);
        size_t second = 2 * pair + 1 - offset % 2, first = second - 1;
        if (second > 0 && first < to.len) write(first, numbers.first);
        if (second < to.len) write(second, numbers.second);
    }
}
