// Decides on the device which bodies of a branch run, and whether a loop has another round.
//
// A condition holds if one of `bits` is set in its element: all bits of an integer, and all but the sign of a float. So NaN
// holds, and -0 does not. No body runs if one of the words at the addresses `failures` says that a task has failed, since
// the element may then be anything.
//
// `condition.ptx` is this text, compiled:
//
//     nvrtc, --gpu-architecture=compute_75 --relocatable-device-code=true --std=c++17
//
// and with `.version 6.4`, which suffices for it. The driver links `cudaGraphSetConditional` when it loads the PTX.
#include "dahl.cuh"
using namespace dahl;

// CUDA's, for handles of `cuGraphConditionalHandleCreate`.
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned value);

// Sets `then` to whether the condition holds if `sets` has its first bit, and `otherwise` to the contrary if it has the second.
extern "C" __global__ void condition(View<const uint8_t, 1> element, View<const uint64_t, 1> failures, uint64_t bits, uint64_t then,
                                     uint64_t otherwise, uint64_t sets) {
    uint64_t value = 0;
    for (size_t i = 0; i < element.len(); i++) value |= uint64_t(element.at(i)) << (8 * i);
    bool holds = (value & bits) != 0, fine = true;
    for (size_t i = 0; i < failures.len(); i++) {
        // What a kernel before this one has written to the host's memory.
        fine &= *reinterpret_cast<const volatile uint64_t *>(failures.at(i)) == ~uint64_t(0);
    }
    if (sets & 1) cudaGraphSetConditional(then, fine && holds);
    if (sets & 2) cudaGraphSetConditional(otherwise, fine && !holds);
}
