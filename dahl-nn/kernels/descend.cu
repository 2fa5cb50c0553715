// A step of stochastic gradient descent, plain and with momentum (`src/optimizer/sgd.rs`).
//
//     descend:                value -= learning_rate * (gradient + weight_decay * value)
//     descend_with_momentum:  velocity = momentum * velocity + gradient + weight_decay * value, value -= learning_rate * velocity;
//                             with nesterov, value -= learning_rate * (gradient + weight_decay * value + momentum * velocity)
//
//     .. with_master, and_master:  the value is read from its master copy where it is that, rounded; both are written
//
// A thread takes elements of its own, in the compute type, by the steps of the CPU in their order: the same bits. Where all arrays are
// contiguous, these are 16 bytes of the value, and as many elements of each. The velocity is in the compute type, `S`.
#include "map.cuh"
#include "master.cuh"

using namespace dahl;

// Elements of 16 bytes.
template <class T> constexpr int EACH = 16 / sizeof(T);

// Whether all arrays can be read and written `EACH<T>` elements at a time.
template <class T, class... Arrays> DAHL_DEVICE bool are_in_packs(const Arrays &...arrays) {
    return ((arrays.contiguous && is_aligned<EACH<T>>(arrays.view)) && ...);
}

template <int N, class T> DAHL_DEVICE Pack<T, N> &pack_of(const Elements<T> &elements, size_t i) {
    return reinterpret_cast<Pack<T, N> *>(elements.view.data)[i];
}
template <int N, class T> DAHL_DEVICE const Pack<T, N> &pack_of(const Elements<const T> &elements, size_t i) {
    return reinterpret_cast<const Pack<T, N> *>(elements.view.data)[i];
}

template <class T> struct Descent {
    using C = compute_t<T>;
    C rate, decay;

    DAHL_DEVICE void step(T &value, T gradient) const {
        C old = widen(value);
        value = narrow<T>(moved(old, gradient));
    }
    DAHL_DEVICE C moved(C old, T gradient) const { return old - rate * (widen(gradient) + decay * old); }
    template <class S> DAHL_DEVICE void step(T &value, S &velocity, T gradient, C keeps, bool nesterov) const {
        value = narrow<T>(moved(C(widen(value)), velocity, gradient, keeps, nesterov));
    }
    template <class S> DAHL_DEVICE C moved(C old, S &velocity, T gradient, C keeps, bool nesterov) const {
        C slope = widen(gradient) + decay * old, fresh = keeps * C(velocity) + slope;
        velocity = S(fresh);
        return old - rate * (nesterov ? slope + keeps * fresh : fresh);
    }
};

DAHL_KERNEL(descend, types(T: real), grid(blocks(value.len(), 1024)), block(256))
template <class T>
__global__ void descend(View<T, ANY> value, View<const T, ANY> gradient, double learning_rate, double weight_decay) {
    using C = compute_t<T>;
    Descent<T> descent = {C(learning_rate), C(weight_decay)};
    Elements<T> values(value);
    Elements<const T> gradients(gradient);
    size_t packs = are_in_packs<T>(values, gradients) ? values.len / EACH<T> : 0;
    for (size_t i = first_index(); i < packs; i += grid_threads()) {
        Pack<T, EACH<T>> into = pack_of<EACH<T>>(values, i), from = pack_of<EACH<T>>(gradients, i);
#pragma unroll
        for (int item = 0; item < EACH<T>; item++) descent.step(into.items[item], from.items[item]);
        pack_of<EACH<T>>(values, i) = into;
    }
    for (size_t i = packs * EACH<T> + first_index(); i < values.len; i += grid_threads()) descent.step(values[i], gradients[i]);
}

DAHL_KERNEL(descend_with_momentum, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void descend_with_momentum(View<T, ANY> value, View<S, ANY> velocity, View<const T, ANY> gradient, double learning_rate,
                                      double momentum, double weight_decay, bool nesterov) {
    using C = compute_t<T>;
    Descent<T> descent = {C(learning_rate), C(weight_decay)};
    C keeps = C(momentum);
    Elements<T> values(value);
    Elements<S> velocities(velocity);
    Elements<const T> gradients(gradient);
    size_t packs = are_in_packs<T>(values, velocities, gradients) ? values.len / EACH<T> : 0;
    for (size_t i = first_index(); i < packs; i += grid_threads()) {
        Pack<T, EACH<T>> into = pack_of<EACH<T>>(values, i), from = pack_of<EACH<T>>(gradients, i);
        Pack<S, EACH<T>> moved = pack_of<EACH<T>>(velocities, i);
#pragma unroll
        for (int item = 0; item < EACH<T>; item++) {
            descent.step(into.items[item], moved.items[item], from.items[item], keeps, nesterov);
        }
        pack_of<EACH<T>>(velocities, i) = moved;
        pack_of<EACH<T>>(values, i) = into;
    }
    for (size_t i = packs * EACH<T> + first_index(); i < values.len; i += grid_threads()) {
        descent.step(values[i], velocities[i], gradients[i], keeps, nesterov);
    }
}

DAHL_KERNEL(descend_with_master, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void descend_with_master(View<T, ANY> value, View<S, ANY> master, View<const T, ANY> gradient, double learning_rate,
                                    double weight_decay) {
    using C = compute_t<T>;
    Descent<T> descent = {C(learning_rate), C(weight_decay)};
    Elements<T> values(value);
    Elements<S> masters(master);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        C old = mastered(values[i], masters[i]);
        set_mastered(values[i], masters[i], descent.moved(old, gradients[i]));
    }
}

DAHL_KERNEL(descend_with_momentum_and_master, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void descend_with_momentum_and_master(View<T, ANY> value, View<S, ANY> master, View<S, ANY> velocity,
                                                 View<const T, ANY> gradient, double learning_rate, double momentum,
                                                 double weight_decay, bool nesterov) {
    using C = compute_t<T>;
    Descent<T> descent = {C(learning_rate), C(weight_decay)};
    C keeps = C(momentum);
    Elements<T> values(value);
    Elements<S> masters(master), velocities(velocity);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        C old = mastered(values[i], masters[i]);
        set_mastered(values[i], masters[i], descent.moved(old, velocities[i], gradients[i], keeps, nesterov));
    }
}
