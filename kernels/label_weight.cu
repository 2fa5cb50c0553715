// What each sample of a classification counts in the gradient of a loss.
//
//     label_weight:  out[i] = scale * ((1 - smoothing) * weights[labels[i]] + smoothing / classes * sum of weights)
//
// and 0 where the label is ignored; any other label that is none of the classes fails the task. The scale is that of
// `include/weighted_labels.cuh`, whose first pass sums the weights for a mean. Then one thread computes each element; every
// block sums the weights of the classes again, which are few, and cached.
#include "weighted_labels.cuh"

using namespace dahl;

template <class T, class L>
__global__ void label_weight_weights(View<const L, 1> labels, View<const T, 1> weights, View<T, 1> out, size_t classes, double smoothing,
                                     int64_t ignored, uint8_t reduction, double factor, Task task) {
    WeightedLabels<T, L>{labels, weights, classes, ignored}.leave_weights(task);
}

DAHL_KERNEL(label_weight, types(T: real, L: label), scratch(32 * blocks(labels.len(), 2048)),
            pass(label_weight_weights, grid(blocks(labels.len(), 2048) * reduction), block(256)),
            pass(label_weight, grid(blocks(labels.len(), 256)), block(256)))
template <class T, class L>
__global__ void label_weight(View<const L, 1> labels, View<const T, 1> weights, View<T, 1> out, size_t classes, double smoothing,
                             int64_t ignored, uint8_t reduction, double factor, Task task) {
    using C = compute_t<T>;
    WeightedLabels<T, L> all = {labels, weights, classes, ignored};
    C scale = all.scale(reduction, factor, task), target = C(1.0 - smoothing);
    C of_all = all.of_all_classes() * C(smoothing / double(classes));
    for (size_t sample = first_index(); sample < labels.extent(0); sample += grid_threads()) {
        size_t class_ = all.class_of(sample, task);
        out.at(sample) = narrow<T>(class_ == all.NONE ? C(0) : scale * (target * all.weight(class_) + of_all));
    }
}
