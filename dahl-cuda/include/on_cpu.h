// Runs CUDA kernels on the CPU, for tests: defines for g++ what `dahl.cuh` needs of CUDA.
//
// A block's threads are fibers (`fibers.h`), so that `__syncthreads`, shared memory, shuffles and atomics work as on a device.
// `tensor_core.h` has the instructions of tensor cores.
//
// Times are meaningless: the duration of a kernel here says nothing about a device.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fibers.h"
#include "tensor_core.h"

// The additional expansion for each entry point (dahl-build): empty by default.
#ifndef DAHL_ON_CPU_ENTRY
#define DAHL_ON_CPU_ENTRY(name, ...)
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static thread_local

namespace dahl {
namespace on_cpu {

// The value of thread `from` of the warp. All threads of the warp take part.
template <class T> T exchange(T value, unsigned from, int line) {
    static_assert(sizeof(T) <= 8, "a shuffle moves 4 or 8 bytes");
    Block &b = block();
    unsigned thread = b.current;
    memcpy(&b.lanes[thread], &value, sizeof value);
    wait(State::AtWarp, "shuffle", line);
    T result;
    memcpy(&result, &b.lanes[from < b.threads ? from : thread], sizeof result);
    wait(State::AtWarp, "shuffle read", line);
    return result;
}

// Whether the condition holds for any thread of the block.
inline bool any_in_block(bool holds, const char *file, int line) {
    Block &b = block();
    b.lanes[b.current] = holds;
    wait(State::AtBlock, file, line);
    bool any = false;
    for (unsigned thread = 0; thread < b.threads; thread++) any |= b.lanes[thread] != 0;
    wait(State::AtBlock, file, -line);
    return any;
}

// A bit for each thread of the warp, whether the condition holds for it. All threads of the warp take part.
inline unsigned those_of_warp(bool holds, int line) {
    Block &b = block();
    b.lanes[b.current] = holds;
    wait(State::AtWarp, "ballot", line);
    unsigned first = b.current & ~31u, bits = 0;
    for (unsigned lane = 0; lane < 32 && first + lane < b.threads; lane++) bits |= unsigned(b.lanes[first + lane] != 0) << lane;
    wait(State::AtWarp, "ballot read", line);
    return bits;
}

} // namespace on_cpu
} // namespace dahl

inline void __syncthreads(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    dahl::on_cpu::wait(dahl::on_cpu::State::AtBlock, file, line);
}
inline void __syncwarp(unsigned = ~0u, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    dahl::on_cpu::wait(dahl::on_cpu::State::AtWarp, file, line);
}
inline int __syncthreads_or(int holds, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    return dahl::on_cpu::any_in_block(holds, file, line);
}
inline void __threadfence() {}

template <class T> T __shfl_sync(unsigned, T value, int lane, int = 32, int line = __builtin_LINE()) {
    return dahl::on_cpu::exchange(value, (dahl::on_cpu::block().current & ~31u) + (lane & 31), line);
}
template <class T> T __shfl_xor_sync(unsigned, T value, int mask, int = 32, int line = __builtin_LINE()) {
    return dahl::on_cpu::exchange(value, dahl::on_cpu::block().current ^ mask, line);
}
template <class T> T __shfl_down_sync(unsigned, T value, unsigned delta, int = 32, int line = __builtin_LINE()) {
    unsigned thread = dahl::on_cpu::block().current;
    return dahl::on_cpu::exchange(value, (thread & 31) + delta < 32 ? thread + delta : thread, line);
}

template <class T> T __shfl_up_sync(unsigned, T value, unsigned delta, int = 32, int line = __builtin_LINE()) {
    unsigned thread = dahl::on_cpu::block().current;
    return dahl::on_cpu::exchange(value, (thread & 31) >= delta ? thread - delta : thread, line);
}
inline unsigned __ballot_sync(unsigned, int holds, int line = __builtin_LINE()) {
    return dahl::on_cpu::those_of_warp(holds != 0, line);
}

// Fibers switch only where they wait, so atomic operations are ordinary ones.
template <class T> T atomicAdd(T *place, T value) {
    T old = *place;
    *place = old + value;
    return old;
}
template <class T> T atomicMin(T *place, T value) {
    T old = *place;
    if (value < old) *place = value;
    return old;
}
template <class T> T atomicMax(T *place, T value) {
    T old = *place;
    if (value > old) *place = value;
    return old;
}
template <class T> T atomicCAS(T *place, T compare, T value) {
    T old = *place;
    if (old == compare) *place = value;
    return old;
}
