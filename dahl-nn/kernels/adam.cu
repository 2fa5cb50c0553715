// A step of Adam and AdamW (`src/optimizer/adam.rs`), with the numbers of `AdamStep`.
//
//     slope = gradient + weight_decay * value
//     mean += (1 - beta1) * (slope - mean), square = beta2 * square + (1 - beta2) * slope^2
//     value = value * kept - step_size * mean / (sqrt(square) / root + eps)
//
// update_by_adam_amsgrad keeps the largest `square` so far, and divides by its root. Those with a master copy read the value from it
// where the parameter is the master copy, rounded, and write both. A thread takes elements of its own, in the compute
// type, by the steps of the CPU in their order: the same bits. Averages are in the compute type, `S`.
#include "map.cuh"
#include "master.cuh"

using namespace dahl;

template <class T, class S> struct Adaptive {
    using C = compute_t<T>;
    C kept, decay, beta2, new1, new2, step_size, root, eps;

    DAHL_DEVICE Adaptive(double kept, double weight_decay, double beta1, double beta2, double step_size, double root, double eps)
        : kept(C(kept)), decay(C(weight_decay)), beta2(C(beta2)), new1(C(1 - beta1)), new2(C(1 - beta2)), step_size(C(step_size)),
          root(C(root)), eps(C(eps)) {}

    // Updates both averages.
    DAHL_DEVICE void average(C value, C gradient, S &mean, S &square) const {
        C slope = gradient + decay * value, old = C(mean);
        mean = S(old + new1 * (slope - old));
        square = S(beta2 * C(square) + new2 * slope * slope);
    }
    // The new value.
    DAHL_DEVICE C moved(C value, C mean, C square) const {
        return value * kept - step_size * (mean / (real::sqrt(square) / root + eps));
    }
};

DAHL_KERNEL(update_by_adam, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void update_by_adam(View<T, ANY> value, View<S, ANY> mean, View<S, ANY> square, View<const T, ANY> gradient, double kept,
                     double weight_decay, double beta1, double beta2, double step_size, double root, double eps) {
    Adaptive<T, S> adaptive(kept, weight_decay, beta1, beta2, step_size, root, eps);
    Elements<T> values(value);
    Elements<S> means(mean), squares(square);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        compute_t<T> old = widen(values[i]);
        S average = means[i], of_squares = squares[i];
        adaptive.average(old, widen(gradients[i]), average, of_squares);
        means[i] = average;
        squares[i] = of_squares;
        values[i] = narrow<T>(adaptive.moved(old, average, of_squares));
    }
}

DAHL_KERNEL(update_by_adam_amsgrad, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void update_by_adam_amsgrad(View<T, ANY> value, View<S, ANY> mean, View<S, ANY> square, View<S, ANY> largest,
                             View<const T, ANY> gradient, double kept, double weight_decay, double beta1, double beta2,
                             double step_size, double root, double eps) {
    Adaptive<T, S> adaptive(kept, weight_decay, beta1, beta2, step_size, root, eps);
    Elements<T> values(value);
    Elements<S> means(mean), squares(square), largests(largest);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        compute_t<T> old = widen(values[i]);
        S average = means[i], of_squares = squares[i], most = largests[i];
        adaptive.average(old, widen(gradients[i]), average, of_squares);
        if (!(is_nan(most) || most > of_squares)) most = of_squares;
        means[i] = average;
        squares[i] = of_squares;
        largests[i] = most;
        values[i] = narrow<T>(adaptive.moved(old, average, most));
    }
}

DAHL_KERNEL(update_by_adam_with_master, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void update_by_adam_with_master(View<T, ANY> value, View<S, ANY> master, View<S, ANY> mean, View<S, ANY> square,
                     View<const T, ANY> gradient, double kept, double weight_decay, double beta1, double beta2,
                     double step_size, double root, double eps) {
    Adaptive<T, S> adaptive(kept, weight_decay, beta1, beta2, step_size, root, eps);
    Elements<T> values(value);
    Elements<S> masters(master), means(mean), squares(square);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        compute_t<T> old = mastered(values[i], masters[i]);
        S average = means[i], of_squares = squares[i];
        adaptive.average(old, widen(gradients[i]), average, of_squares);
        means[i] = average;
        squares[i] = of_squares;
        set_mastered(values[i], masters[i], adaptive.moved(old, average, of_squares));
    }
}

DAHL_KERNEL(update_by_adam_amsgrad_with_master, types(T: real, S: f32 f64), grid(blocks(value.len(), 1024)), block(256))
template <class T, class S>
__global__ void update_by_adam_amsgrad_with_master(View<T, ANY> value, View<S, ANY> master, View<S, ANY> mean, View<S, ANY> square,
                     View<S, ANY> largest, View<const T, ANY> gradient, double kept, double weight_decay, double beta1, double beta2,
                     double step_size, double root, double eps) {
    Adaptive<T, S> adaptive(kept, weight_decay, beta1, beta2, step_size, root, eps);
    Elements<T> values(value);
    Elements<S> masters(master), means(mean), squares(square), largests(largest);
    Elements<const T> gradients(gradient);
    for (size_t i = first_index(); i < values.len; i += grid_threads()) {
        compute_t<T> old = mastered(values[i], masters[i]);
        S average = means[i], of_squares = squares[i], most = largests[i];
        adaptive.average(old, widen(gradients[i]), average, of_squares);
        if (!(is_nan(most) || most > of_squares)) most = of_squares;
        means[i] = average;
        squares[i] = of_squares;
        largests[i] = most;
        set_mastered(values[i], masters[i], adaptive.moved(old, average, most));
    }
}
