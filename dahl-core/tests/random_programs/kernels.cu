// The codelets of the random programs (`kernels.rs`), for CUDA. Unsigned arithmetic wraps around.
#include "dahl.cuh"
using namespace dahl;

DAHL_DEVICE int64_t scaled_sum(int64_t x, uint64_t factor, int64_t y) { return int64_t(uint64_t(x) * factor + uint64_t(y)); }

extern "C" __global__ void random_mix(View<const int64_t, 2> a, View<const int64_t, 2> b, View<int64_t, 2> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        size_t row = i / out.extent(1), col = i % out.extent(1);
        out.at(row, col) = scaled_sum(a.at(row, col), 3, b.at(row, col));
    }
}

extern "C" __global__ void random_map(View<const int64_t, ANY> x, View<const int64_t, ANY> y, View<int64_t, ANY> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.element(i) = scaled_sum(x.element(i), 7, y.element(i));
}

// Fails if it is to add 13.
extern "C" __global__ void random_scale(View<int64_t, ANY> x, int64_t add, Task task) {
    if (add == 13) {
        if (first_index() == 0) task.fail(0);
        return;
    }
    for (size_t i = first_index(); i < x.len(); i += grid_threads()) x.element(i) = scaled_sum(x.element(i), 5, add);
}

extern "C" __global__ void random_add(View<const int64_t, ANY> x, View<int64_t, ANY> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.element(i) = scaled_sum(x.element(i), 1, out.element(i));
}

extern "C" __global__ void random_fill(View<int64_t, 2> out, int64_t value) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.at(i / out.extent(1), i % out.extent(1)) = value;
}

extern "C" __global__ void random_fill_total(View<float, ANY> out, float value) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.element(i) = value;
}

DAHL_DEVICE float contribution(int64_t x, float factor) { return float(x % 1000) * factor; }

extern "C" __global__ void random_sum(View<const int64_t, ANY> x, View<float, ANY> out, float factor) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) out.element(i) += contribution(x.element(i), factor);
}

extern "C" __global__ void random_max(View<const int64_t, ANY> x, View<float, ANY> out, float factor) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        float next = contribution(x.element(i), factor);
        if (next > out.element(i)) out.element(i) = next;
    }
}

extern "C" __global__ void random_min(View<const int64_t, ANY> x, View<float, ANY> out, float factor) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        float next = contribution(x.element(i), factor);
        if (next < out.element(i)) out.element(i) = next;
    }
}
