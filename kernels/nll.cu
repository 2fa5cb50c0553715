// The negative log-likelihood, with weights of the classes and an ignored label, and its gradient.
//
//     nll:           out += scale * sum of -weights[labels[i]] * input[i, labels[i]]
//     nll_each:      out[i] = -weights[labels[i]] * input[i, labels[i]]
//     nll_backward:  out[i, j] = -scale * weights[j] if j is labels[i], else 0
//
// A sample whose label is ignored counts 0; any other label that is none of the classes fails the task. The scale is that of
// `include/weighted_labels.cuh`, whose first pass sums the weights for a mean.
//
// One thread reads the one element of a sample that counts; where samples are summed, it leaves its term in scratch memory,
// and a last pass of one block adds them in a fixed order. Backward, one thread writes each element.
#include "weighted_labels.cuh"

using namespace dahl;

// The loss of a sample, times `scale`. That goes in before the input, since the product of the others could overflow.
template <class T, class L>
DAHL_DEVICE compute_t<T> loss_of(const View<const T, 2> &input, const WeightedLabels<T, L> &labels, size_t sample, compute_t<T> scale,
                                 const Task &task) {
    size_t class_ = labels.class_of(sample, task);
    return class_ == labels.NONE ? compute_t<T>(0) : -(scale * labels.weight(class_) * widen(input.at(sample, class_)));
}

template <class T, class L>
__global__ void nll_weights(View<const T, 2> input, View<const L, 1> labels, View<const T, 1> weights, View<compute_t<T>, 0> out,
                            int64_t ignored, uint8_t reduction, double factor, Task task) {
    WeightedLabels<T, L>{labels, weights, input.extent(1), ignored}.leave_weights(task);
}

template <class T, class L>
__global__ void nll_samples(View<const T, 2> input, View<const L, 1> labels, View<const T, 1> weights, View<compute_t<T>, 0> out,
                            int64_t ignored, uint8_t reduction, double factor, Task task) {
    using C = compute_t<T>;
    WeightedLabels<T, L> all = {labels, weights, input.extent(1), ignored};
    C scale = all.scale(reduction, factor, task);
    size_t samples = labels.extent(0);
    for (size_t sample = first_index(); sample < samples; sample += grid_threads()) {
        losses_of<C>(samples, task)[sample] = loss_of(input, all, sample, scale, task);
    }
}

DAHL_KERNEL(nll, types(T: real, L: label), scratch(32 * blocks(labels.len(), 2048) + sizeof(compute_t<T>) * labels.len()),
            pass(nll_weights, grid(blocks(labels.len(), 2048) * reduction), block(256)),
            pass(nll_samples, grid(blocks(labels.len(), 256)), block(256)), pass(nll, grid(1), block(256)))
template <class T, class L>
__global__ void nll(View<const T, 2> input, View<const L, 1> labels, View<const T, 1> weights, View<compute_t<T>, 0> out,
                    int64_t ignored, uint8_t reduction, double factor, Task task) {
    WeightedLabels<T, L> all = {labels, weights, input.extent(1), ignored};
    compute_t<T> scale = all.scale(reduction, factor, task);
    add_losses<compute_t<T>>(labels.extent(0), scale, out, task);
}

DAHL_KERNEL(nll_each, types(T: real, L: label), grid(blocks(labels.len(), 256)), block(256))
template <class T, class L>
__global__ void nll_each(View<const T, 2> input, View<const L, 1> labels, View<const T, 1> weights, View<T, 1> out, int64_t ignored,
                         Task task) {
    WeightedLabels<T, L> all = {labels, weights, input.extent(1), ignored};
    for (size_t sample = first_index(); sample < labels.extent(0); sample += grid_threads()) {
        out.at(sample) = narrow<T>(loss_of(input, all, sample, compute_t<T>(1), task));
    }
}

template <class T, class L>
__global__ void nll_backward_weights(View<const L, 1> labels, View<const T, 1> weights, View<T, 2> out, size_t classes, int64_t ignored,
                                     uint8_t reduction, double factor, Task task) {
    WeightedLabels<T, L>{labels, weights, classes, ignored}.leave_weights(task);
}

DAHL_KERNEL(nll_backward, types(T: real, L: label), scratch(32 * blocks(labels.len(), 2048)),
            pass(nll_backward_weights, grid(blocks(labels.len(), 2048) * reduction), block(256)),
            pass(nll_backward, grid(blocks(max(out.len(), labels.len()), 256)), block(256)))
template <class T, class L>
__global__ void nll_backward(View<const L, 1> labels, View<const T, 1> weights, View<T, 2> out, size_t classes, int64_t ignored,
                             uint8_t reduction, double factor, Task task) {
    using C = compute_t<T>;
    WeightedLabels<T, L> all = {labels, weights, classes, ignored};
    C scale = all.scale(reduction, factor, task);
    // Also where there are no classes, and so no elements.
    for (size_t sample = first_index(); sample < labels.extent(0); sample += grid_threads()) all.class_of(sample, task);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Division place = divide(i, classes);
        bool is_label = all.class_of(place.quotient, task) == place.remainder;
        out.at(place.quotient, place.remainder) = narrow<T>(is_label ? -(scale * all.weight(place.remainder)) : C(0));
    }
}
