// The gradient of a pooling by maxima, scattered to the places that the maxima came from.
//
// The indices of a maximum do not tell the window, so any of a plane may name any element. A block takes a plane: it
// stages 256 indices and gradients at a time in shared memory, and each thread picks those of its own elements, in order.
// So no two threads add to one element, and no atomics are needed. Sums are kept in scratch memory, in the compute type.
#pragma once

#include "dahl.cuh"

namespace dahl {

constexpr unsigned STAGED = 256;

// For each of `planes` planes: adds `gradient(plane, i)` to the element `index(plane, i)`, for `positions` numbers `i`, and
// calls `store(plane, element, sum)` for each of `elements`. For grid(blocks(planes, 1)), block(256), and scratch memory of
// a number in the compute type `C` for each element. An index that is out of range fails the task.
template <class C, class Gradient, class Index, class Store>
DAHL_DEVICE void unpool(size_t planes, size_t positions, size_t elements, const Task &task, Gradient gradient, Index index, Store store) {
    __shared__ uint32_t staged_index[STAGED];
    __shared__ C staged_gradient[STAGED];
    size_t thread = threadIdx.x;
    for (size_t plane = blockIdx.x; plane < planes; plane += gridDim.x) {
        C *sums = task.scratch_as<C>() + plane * elements;
        for (size_t element = thread; element < elements; element += STAGED) sums[element] = 0;
        for (size_t first = 0; first < positions; first += STAGED) {
            size_t count = positions - first < STAGED ? positions - first : STAGED;
            if (thread < count) {
                staged_index[thread] = index(plane, first + thread);
                staged_gradient[thread] = widen(gradient(plane, first + thread));
                if (staged_index[thread] >= elements) task.fail(plane * positions + first + thread);
            }
            __syncthreads();
            for (size_t i = 0; i < count; i++) {
                uint32_t element = staged_index[i];
                if (element % STAGED == thread && element < elements) sums[element] += staged_gradient[i];
            }
            __syncthreads();
        }
        for (size_t element = thread; element < elements; element += STAGED) store(plane, element, sums[element]);
    }
}

} // namespace dahl
