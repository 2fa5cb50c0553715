// Philox4x32-10: random numbers that are a function of a seed and a counter, the same as on the CPU (Salmon, Moraes, Dror and Shaw
// 2011, Parallel Random Numbers: As Easy as 1, 2, 3, section 3.4).
//
// Threads have no state: each computes the numbers of its own elements from their indices.
#pragma once

#include "dahl.cuh"

namespace dahl {

struct Random128 {
    uint32_t words[4];
};

// 128 random bits: the block cipher's image of `counter` under the key `seed`.
DAHL_DEVICE Random128 philox4x32(Random128 counter, uint64_t seed) {
    uint32_t key[2] = {uint32_t(seed), uint32_t(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t first = uint64_t(0xD2511F53) * counter.words[0], second = uint64_t(0xCD9E8D57) * counter.words[2];
        counter = {{uint32_t(second >> 32) ^ counter.words[1] ^ key[0], uint32_t(second),
                    uint32_t(first >> 32) ^ counter.words[3] ^ key[1], uint32_t(first)}};
        key[0] += 0x9E3779B9;
        key[1] += 0xBB67AE85;
    }
    return counter;
}

struct UniformPair {
    double first, second;
};

// Two numbers in [0, 1) with 53 bits, from block `block` of the sequence of `seed`.
DAHL_DEVICE UniformPair uniform_pair(uint64_t seed, uint64_t block) {
    Random128 bits = philox4x32({{uint32_t(block), uint32_t(block >> 32), 0, 0}}, seed);
    auto number = [](uint32_t low, uint32_t high) {
        return (double(high >> 5) * 67108864.0 + double(low >> 6)) * (1.0 / 9007199254740992.0);
    };
    return {number(bits.words[0], bits.words[1]), number(bits.words[2], bits.words[3])};
}

// The upper half of a 128-bit product.
DAHL_DEVICE uint64_t multiply_high(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    return uint64_t((unsigned __int128)a * b >> 64);
#endif
}

// An index below `count` from block `block` of the sequence of `seed` (Lemire 2019, Fast Random Integer Generation in
// an Interval).
DAHL_DEVICE uint64_t index_below(uint64_t count, uint64_t seed, uint64_t block) {
    Random128 bits = philox4x32({{uint32_t(block), uint32_t(block >> 32), 1, 0}}, seed);
    return multiply_high(uint64_t(bits.words[1]) << 32 | bits.words[0], count);
}

} // namespace dahl
