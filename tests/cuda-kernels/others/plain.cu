// Kernels on plain pointers, as in programs other than dahl, for the tests of the fake driver.
#include "dahl.cuh"

using namespace dahl;

// y[i] += alpha x[i]
extern "C" __global__ void plain_scale_add(const float *x, float *y, float alpha, size_t n) {
    for (size_t i = first_index(); i < n; i += grid_threads()) y[i] += alpha * x[i];
}

// to[i] = from[i]
extern "C" __global__ void plain_copy(const float *from, float *to, size_t n) {
    for (size_t i = first_index(); i < n; i += grid_threads()) to[i] = from[i];
}

// Writes to any index, even out of bounds.
extern "C" __global__ void plain_stray(float *y, size_t index) {
    if (first_index() == 0) y[index] = 1;
}
