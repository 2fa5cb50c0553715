// A tensor core on the CPU: `ldmatrix` and `mma.sync` as functions of a warp, for the kernels that `on_cpu.h` runs.
//
// The lanes of a warp hold a matrix together: each has a fragment of it in registers. Which lane has which element is laid
// down by the PTX ISA (Warp-level matrix instructions, Matrix fragments for mma.m16n8k16 with floating point type), and
// here it is written once more, as the place of an element: its lane, its register, and its half of the register. With
// the `lane` of 32 (`/` and `%` are of integers):
//
//     factor a, [16 rows, 16 inner]   lane row % 8 * 4 + inner % 8 / 2, register row / 8 + inner / 8 * 2, half inner % 2
//     factor b, [16 inner, 8 cols]    lane col * 4 + inner % 8 / 2,     register inner / 8,               half inner % 2
//     sums,     [16 rows, 8 cols]     lane row % 8 * 4 + col / 2,       register row / 8 * 2 + col % 2
//
// Numbers. A tensor core multiplies halves exactly. It adds some products (4 on a V100, 8 on an A100) and the sum so far
// as fixed-point numbers: all are shifted to the exponent of the largest, and what is shifted out is cut off, as are the
// bits of the total beyond those of a float. Subnormal numbers are kept. NVIDIA does not document this; Fasi, Higham,
// Mikaitis and Pranesh measured it (2021, Numerical behavior of NVIDIA tensor cores, PeerJ Computer Science 7:e330,
// https://doi.org/10.7717/peerj-cs.330). Here 8 products are added at a time, and nothing is kept beyond the 24 bits of
// a float while they are added, which is the least that any device was found to keep. So errors here have one sign, as on
// a device, and are at least as large; the bits of a device's results are not reproduced.
#pragma once

#include <math.h>

#include "fibers.h"

namespace dahl {
namespace on_cpu {

// The products that are added at a time.
constexpr unsigned ADDED_TOGETHER = 8;

inline double power_of_2(int exponent) {
    uint64_t bits = uint64_t(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

// A finite number rounded towards zero.
inline float truncated(double number) {
    float nearest = float(number);
    if (fabs(double(nearest)) <= fabs(number) || fabs(number) >= power_of_2(128)) return nearest;
    return nextafterf(nearest, 0);
}

// `sum + a[0] * b[0] + ..` of ADDED_TOGETHER products, as a tensor core adds them.
inline float add_products(const float *a, const float *b, float sum) {
    double terms[ADDED_TOGETHER + 1], largest = 0, plain = 0;
    for (unsigned i = 0; i <= ADDED_TOGETHER; i++) {
        terms[i] = i == ADDED_TOGETHER ? double(sum) : double(a[i]) * double(b[i]);
        largest = fmax(largest, fabs(terms[i]));
        plain += terms[i];
    }
    // Infinities, NaN, and zeros of either sign.
    if (plain - plain != 0 || largest == 0) return float(plain);
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    int exponent = int(bits >> 52) - 1023, lowest = -126;
    exponent = (exponent > lowest ? exponent : lowest) - 23;
    double unit = power_of_2(exponent), of_units = power_of_2(-exponent);
    int64_t total = 0;
    for (double term : terms) total += int64_t(term * of_units);
    return truncated(double(total) * unit);
}

// The first thread of this thread's warp, which must be whole.
inline unsigned first_of_warp(const char *instruction) {
    Block &b = block();
    unsigned first = b.current & ~(WARP - 1);
    if (first + WARP > b.threads) fail(std::string(instruction) + " needs all 32 threads of a warp");
    return first;
}

// `ldmatrix.sync.aligned.m8n8.x4.shared.b16`, or with `.trans`: loads four matrices of 8 x 8 numbers of 16 bits. Lane `8 *
// m + r` gives the address of row `r` of matrix `m`. Of each, a lane gets two neighbours of row `lane / 4`, or, transposed,
// of column `lane / 4`.
inline void load_matrices(uint32_t (&registers)[4], const void *row, bool transposes, int line) {
    Block &b = block();
    unsigned first = first_of_warp("ldmatrix"), lane = b.current - first;
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0) fail("ldmatrix: a row is not at a multiple of 16 bytes");
    b.lanes[b.current] = reinterpret_cast<uintptr_t>(row);
    wait(State::AtWarp, "ldmatrix", line);
    for (unsigned matrix = 0; matrix < 4; matrix++) {
        uint16_t halves[2];
        for (unsigned half = 0; half < 2; half++) {
            unsigned from_row = lane / 4, from_col = lane % 4 * 2 + half;
            if (transposes) std::swap(from_row, from_col);
            const uint16_t *numbers = reinterpret_cast<const uint16_t *>(b.lanes[first + 8 * matrix + from_row]);
            memcpy(&halves[half], numbers + from_col, sizeof halves[half]);
        }
        memcpy(&registers[matrix], halves, sizeof halves);
    }
    wait(State::AtWarp, "ldmatrix read", line);
}

// `mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32`: adds the product of `a` and `b` to the sums. `widen` converts
// the 16 bits of a number of TYPE to a float.
template <class Widen>
void multiply_matrices(float (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], Widen widen, int line) {
    Block &of = block();
    unsigned first = first_of_warp("mma"), lane = of.current - first;
    Fragments &own = of.fragments[of.current];
    memcpy(own.a, a, sizeof own.a);
    memcpy(own.b, b, sizeof own.b);
    wait(State::AtWarp, "mma", line);
    const Fragments *fragments = &of.fragments[first];
    float rows[2][16], cols[2][16];
    for (unsigned i = 0; i < 2; i++) {
        unsigned row = lane / 4 + 8 * i, col = lane % 4 * 2 + i;
        for (unsigned inner = 0; inner < 16; inner++) {
            uint32_t of_a = fragments[row % 8 * 4 + inner % 8 / 2].a[row / 8 + inner / 8 * 2];
            uint32_t of_b = fragments[col * 4 + inner % 8 / 2].b[inner / 8];
            rows[i][inner] = widen(uint16_t(of_a >> 16 * (inner % 2)));
            cols[i][inner] = widen(uint16_t(of_b >> 16 * (inner % 2)));
        }
    }
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned inner = 0; inner < 16; inner += ADDED_TOGETHER) {
            sums[i] = add_products(rows[i / 2] + inner, cols[i % 2] + inner, sums[i]);
        }
    }
    wait(State::AtWarp, "mma read", line);
}

} // namespace on_cpu
} // namespace dahl
