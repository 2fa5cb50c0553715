// Cross-entropy with weights of the classes, label smoothing and an ignored label, and its gradient.
//
//     cross_entropy_weighted:           out += sum of the losses, each times scale
//     cross_entropy_each:               out[i] = the loss of sample i
//     cross_entropy_weighted_backward:  out[i, j] = scale * (softmax(logits[i])[j] * sum of weights * target - weights[j] * target[j])
//
// The loss of a sample is the sum over the classes of -weights[j] * target[j] * ln(softmax(logits)[j]), with target[j] =
// (1 - smoothing) * (label == j) + smoothing / classes; 0 where the label is ignored. Any other label that is none of the
// classes fails the task. The scale is that of `include/weighted_labels.cuh`, whose first pass sums the weights for a mean.
//
// A warp, or a block if there are many classes, computes a sample, as for `softmax`: it goes over the logits for the
// largest, for the sum, and, with smoothing, for the other classes; only the first time are they read from memory. Where all
// samples are summed, each leaves its term in scratch memory, and a last pass of one block adds them in a fixed order.
#include "lanes.cuh"
#include "softmax.cuh"
#include "weighted_labels.cuh"

using namespace dahl;

// Calls `store(sample, loss)` for each sample, in one thread. Losses are multiplied by `scale` before the logarithms, since
// the product of the others could overflow.
template <class T, class L, class Store>
DAHL_DEVICE void losses(const View<const T, 2> &logits, const WeightedLabels<T, L> &labels, double smoothing, compute_t<T> scale,
                        const Task &task, Store store) {
    using C = compute_t<T>;
    size_t classes = logits.extent(1);
    C target = scale * C(1.0 - smoothing), others = scale * C(smoothing / double(classes));
    for_each_lane(logits.extent(0), classes, 1, [&](const LaneShare &share, size_t sample) {
        Lane<const T> row = row_of(logits, sample);
        auto parts = SoftmaxParts<C>::of(share, row);
        C logarithm = parts.logarithm();
        auto log_probability = [&](size_t i) { return widen(row[i]) - parts.largest - logarithm; };
        auto smoothed = Sum<C>::identity();
        // Without smoothing the others have no part, even if their logarithms are infinite.
        if (smoothing > 0) {
            for (size_t i = share.first; i < share.end; i += share.step) smoothed.add(log_probability(i) * (others * labels.weight(i)));
            smoothed = share.fold(smoothed);
        }
        if (!share.leads) return;
        C loss = 0;
        size_t class_ = labels.class_of(sample, task);
        if (class_ != labels.NONE) {
            loss = -(target * labels.weight(class_) * log_probability(class_));
            if (smoothing > 0) loss -= smoothed.value;
        }
        store(sample, loss);
    });
}

template <class T, class L>
__global__ void cross_entropy_weighted_weights(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights,
                                               View<compute_t<T>, 0> out, double smoothing, int64_t ignored, uint8_t reduction,
                                               double factor, Task task) {
    WeightedLabels<T, L>{labels, weights, logits.extent(1), ignored}.leave_weights(task);
}

template <class T, class L>
__global__ void cross_entropy_weighted_samples(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights,
                                               View<compute_t<T>, 0> out, double smoothing, int64_t ignored, uint8_t reduction,
                                               double factor, Task task) {
    using C = compute_t<T>;
    WeightedLabels<T, L> all = {labels, weights, logits.extent(1), ignored};
    C scale = all.scale(reduction, factor, task);
    C *to = losses_of<C>(labels.extent(0), task);
    losses(logits, all, smoothing, scale, task, [&](size_t sample, C loss) { to[sample] = loss; });
}

DAHL_KERNEL(cross_entropy_weighted, types(T: real, L: label),
            scratch(32 * blocks(labels.len(), 2048) + sizeof(compute_t<T>) * labels.len()),
            pass(cross_entropy_weighted_weights, grid(blocks(labels.len(), 2048) * reduction), block(256)),
            pass(cross_entropy_weighted_samples, grid(blocks(labels.len(), 8)), block(32, 8)),
            pass(cross_entropy_weighted, grid(1), block(256)))
template <class T, class L>
__global__ void cross_entropy_weighted(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights,
                                       View<compute_t<T>, 0> out, double smoothing, int64_t ignored, uint8_t reduction, double factor,
                                       Task task) {
    WeightedLabels<T, L> all = {labels, weights, logits.extent(1), ignored};
    compute_t<T> scale = all.scale(reduction, factor, task);
    add_losses<compute_t<T>>(labels.extent(0), scale, out, task);
}

DAHL_KERNEL(cross_entropy_each, types(T: real, L: label), grid(blocks(labels.len(), 8)), block(32, 8))
template <class T, class L>
__global__ void cross_entropy_each(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights, View<T, 1> out,
                                   double smoothing, int64_t ignored, Task task) {
    using C = compute_t<T>;
    WeightedLabels<T, L> all = {labels, weights, logits.extent(1), ignored};
    losses(logits, all, smoothing, C(1), task, [&](size_t sample, C loss) { out.at(sample) = narrow<T>(loss); });
}

template <class T, class L>
__global__ void cross_entropy_weighted_backward_weights(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights,
                                                        View<T, 2> out, double smoothing, int64_t ignored, uint8_t reduction,
                                                        double factor, Task task) {
    WeightedLabels<T, L>{labels, weights, logits.extent(1), ignored}.leave_weights(task);
}

DAHL_KERNEL(cross_entropy_weighted_backward, types(T: real, L: label), scratch(32 * blocks(labels.len(), 2048)),
            pass(cross_entropy_weighted_backward_weights, grid(blocks(labels.len(), 2048) * reduction), block(256)),
            pass(cross_entropy_weighted_backward, grid(blocks(labels.len(), 8)), block(32, 8)))
template <class T, class L>
__global__ void cross_entropy_weighted_backward(View<const T, 2> logits, View<const L, 1> labels, View<const T, 1> weights, View<T, 2> out,
                                                double smoothing, int64_t ignored, uint8_t reduction, double factor, Task task) {
    using C = compute_t<T>;
    size_t classes = logits.extent(1);
    WeightedLabels<T, L> all = {labels, weights, classes, ignored};
    C scale = all.scale(reduction, factor, task);
    C target = C(1.0 - smoothing), others = C(smoothing / double(classes));
    C of_all = others * all.of_all_classes();
    for_each_lane(logits.extent(0), classes, 1, [&](const LaneShare &share, size_t sample) {
        Lane<const T> row = row_of(logits, sample);
        Lane<T> results = row_of(out, sample);
        auto parts = SoftmaxParts<C>::of(share, row);
        size_t class_ = all.class_of(sample, task);
        C of_label = target * all.weight_of(class_);
        for (size_t i = share.first; i < share.end; i += share.step) {
            C element = widen(row[i]), gradient;
            if (class_ == all.NONE) {
                gradient = 0;
            } else if (smoothing > 0) {
                gradient = (of_label + of_all) * parts.softmax(element) - others * all.weight(i);
                if (i == class_) gradient -= of_label;
                gradient *= scale;
            } else {
                gradient = (i == class_ ? parts.softmax_less_one(element, i) : parts.softmax(element)) * (of_label * scale);
            }
            results[i] = narrow<T>(gradient);
        }
    });
}
