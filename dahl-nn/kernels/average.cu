// Averages of parameters (`src/optimizer/average.rs`).
//
//     blend:     average += weight * (value - average)
//     round_to:  value = average, rounded
//
// A thread takes elements of its own, by the steps of the CPU: the same bits. Averages are in the compute type, `S`.
#include "map.cuh"

using namespace dahl;

DAHL_KERNEL(blend, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S> __global__ void blend(View<S, ANY> average, View<const T, ANY> value, double weight) {
    using C = compute_t<T>;
    C share = C(weight);
    Elements<S> averages(average);
    Elements<const T> values(value);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        C old = C(averages[i]);
        averages[i] = S(old + share * (widen(values[i]) - old));
    }
}

DAHL_KERNEL(round_to, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S> __global__ void round_to(View<const S, ANY> average, View<T, ANY> value) {
    Elements<const S> averages(average);
    Elements<T> values(value);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) values[i] = narrow<T>(compute_t<T>(averages[i]));
}
