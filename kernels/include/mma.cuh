// The instructions of tensor cores: `ldmatrix`, which loads fragments of matrices from shared memory, and `mma.sync`, which
// multiplies them (PTX ISA, Warp-level matrix instructions). The 32 threads of a warp execute each of them together.
//
// A product is of 16 x 16 by 16 x 8 halves, summed in floats: m16n8k16, the largest of these types that compute capability
// 8.0 and above has. `dahl-cuda/include/tensor_core.h` says which lane has which element, how numbers are added, and does
// the same on the CPU.
#pragma once

#include "dahl.cuh"

namespace dahl {

#if defined(DAHL_ON_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800)
constexpr bool HAS_TENSOR_CORES = true;
#else
constexpr bool HAS_TENSOR_CORES = false;
#endif

// Whether products of numbers of this type are computed by tensor cores.
template <class T> constexpr bool IS_FOR_TENSOR_CORES = false;
template <> constexpr bool IS_FOR_TENSOR_CORES<f16> = HAS_TENSOR_CORES;
template <> constexpr bool IS_FOR_TENSOR_CORES<bf16> = HAS_TENSOR_CORES;

// The numbers along each dimension of one product.
constexpr unsigned MMA_ROWS = 16, MMA_COLS = 8, MMA_INNER = 16;

// Two halves in a register, the first in its low bits.
using Halves = uint32_t;

// Where a number is in shared memory, in bytes.
#if defined(DAHL_ON_CPU)
using SharedAddress = uintptr_t;
DAHL_DEVICE SharedAddress shared_address(const void *place) { return reinterpret_cast<uintptr_t>(place); }
#else
using SharedAddress = uint32_t;
DAHL_DEVICE SharedAddress shared_address(const void *place) {
    uint32_t address;
    asm("{ .reg .u64 shared; cvta.to.shared.u64 shared, %1; cvt.u32.u64 %0, shared; }" : "=r"(address) : "l"(place));
    return address;
}
#endif

// Loads four matrices of 8 x 8 halves from shared memory. Lane `8 * m + r` gives row `r` of matrix `m`, 16 bytes at a
// multiple of 16 bytes. `to[m]` is the pair `lane % 4` of row `lane / 4` of matrix `m`; if the matrices are to be
// transposed, of its column `lane / 4`.
#if defined(DAHL_ON_CPU)
DAHL_DEVICE void load_matrices(Halves (&to)[4], SharedAddress row, bool transposes) {
    on_cpu::load_matrices(to, reinterpret_cast<const void *>(row), transposes, __LINE__);
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
DAHL_DEVICE void load_matrices(Halves (&to)[4], SharedAddress row, bool transposes) {
    if (transposes) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(row)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(row)
                     : "memory");
    }
}
#endif

// Adds the product of two fragments to four sums: two neighbours in row `lane / 4`, from column `lane % 4 * 2` on, and two in
// the row 8 below.
#if defined(DAHL_ON_CPU)
template <class T> DAHL_DEVICE void multiply_matrices(T, float *upper, float *lower, const Halves (&a)[4], Halves b, Halves b_8) {
    float sums[4] = {upper[0], upper[1], lower[0], lower[1]};
    on_cpu::multiply_matrices(sums, a, {b, b_8}, [](uint16_t bits) { return widen(T{bits}); }, __LINE__);
    upper[0] = sums[0], upper[1] = sums[1], lower[0] = sums[2], lower[1] = sums[3];
}
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
DAHL_DEVICE void multiply_matrices(f16, float *upper, float *lower, const Halves (&a)[4], Halves b, Halves b_8) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(b_8));
}
DAHL_DEVICE void multiply_matrices(bf16, float *upper, float *lower, const Halves (&a)[4], Halves b, Halves b_8) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(upper[0]), "+f"(upper[1]), "+f"(lower[0]), "+f"(lower[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b), "r"(b_8));
}
#endif

} // namespace dahl
