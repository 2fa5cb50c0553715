// A step of stochastic gradient descent, plain and with momentum (`src/optimizer/sgd.rs`).
//
//     descend:                value -= learning_rate * (gradient + weight_decay * value)
//     descend_with_momentum:  velocity = momentum * velocity + gradient + weight_decay * value, value -= learning_rate * velocity
//
// A thread takes elements of its own, in the compute type, by the steps of the CPU in their order: the same bits.
#include "dahl.cuh"

using namespace dahl;

DAHL_KERNEL(descend, types(T: real), grid(blocks(value.len(), 256)), block(256))
template <class T>
__global__ void descend(View<T, ANY> value, View<const T, ANY> gradient, double learning_rate, double weight_decay) {
    using C = compute_t<T>;
    C rate = C(learning_rate), decay = C(weight_decay);
    Elements<T> values(value);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        C old = widen(values[i]);
        values[i] = narrow<T>(old - rate * (widen(gradients[i]) + decay * old));
    }
}

DAHL_KERNEL(descend_with_momentum, types(T: real), grid(blocks(value.len(), 256)), block(256))
template <class T>
__global__ void descend_with_momentum(View<T, ANY> value, View<T, ANY> velocity, View<const T, ANY> gradient, double learning_rate,
                                      double momentum, double weight_decay) {
    using C = compute_t<T>;
    C rate = C(learning_rate), decay = C(weight_decay), keeps = C(momentum);
    Elements<T> values(value), velocities(velocity);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        C old = widen(values[i]), fresh = keeps * widen(velocities[i]) + (widen(gradients[i]) + decay * old);
        velocities[i] = narrow<T>(fresh);
        values[i] = narrow<T>(old - rate * fresh);
    }
}
