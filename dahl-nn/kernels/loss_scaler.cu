// Gradients of a scaled loss (`src/optimizer/loss_scaler.rs`).
//
//     unscale:  gradient *= inverse, and found = 1 if an element was not finite
//
// A thread takes elements of its own, and each block that saw one says so: the largest of all is the same in any order.
#include "map.cuh"

using namespace dahl;

DAHL_KERNEL(unscale, types(T: real), grid(blocks(gradient.len(), 1024)), block(256))
template <class T> __global__ void unscale(View<T, ANY> gradient, View<uint32_t, 0> found, double inverse) {
    compute_t<T> factor = compute_t<T>(inverse);
    Elements<T> gradients(gradient);
    int sees_one = 0;
    for (size_t i = first_index(); i < gradients.len; i += grid_threads()) {
        compute_t<T> wide = widen(gradients[i]);
        if (!is_finite(wide)) sees_one = 1;
        gradients[i] = narrow<T>(wide * factor);
    }
    if (__syncthreads_or(sees_one) && threadIdx.x == 0) atomicMax(&found.at(), 1u);
}
