// Cross-entropy of logits with integer labels, its gradient, and how many predictions are right.
//
//     cross_entropy:           out += factor * sum of (ln(sum of exp(logits[i, j])) - logits[i, labels[i]])
//     cross_entropy_backward:  out[i, j] = factor * (softmax(logits[i])[j] - (labels[i] == j))
//     count_correct:           out += the number of samples whose first largest logit is at their label
//
// logits: [batch, classes], labels: [batch]. A label that is none of the classes fails the task.
//
// A warp, or a block if there are many classes, computes a sample, as for `softmax`. Where all samples are summed into
// one number, each leaves its term in scratch memory, and a second pass of one block adds them in a fixed order.
#include "extreme.cuh"
#include "fold.cuh"
#include "label.cuh"
#include "lanes.cuh"
#include "softmax.cuh"

using namespace dahl;

// Adds up what a pass left in scratch memory for each of `samples`; all threads of the block have the result.
template <class C> DAHL_DEVICE C sum_of_samples(size_t samples, const Task &task) {
    auto sum = Sum<C>::identity();
    for (size_t sample = threadIdx.x; sample < samples; sample += FOLD_THREADS) sum.add(task.scratch_as<C>()[sample]);
    return fold_block(sum).value;
}

template <class T, class L>
__global__ void cross_entropy_samples(View<const T, 2> logits, View<const L, 1> labels, View<compute_t<T>, 0> out, double factor,
                                      Task task) {
    using C = compute_t<T>;
    size_t classes = logits.extent(1);
    for_each_lane(logits.extent(0), classes, 1, [&](const LaneShare &share, size_t sample) {
        Lane<const T> row = row_of(logits, sample);
        auto parts = SoftmaxParts<C>::of(share, row);
        if (!share.leads) return;
        L label = labels.at(sample);
        if (!is_class(label, classes)) return task.fail(sample);
        task.scratch_as<C>()[sample] = -(widen(row[size_t(label)]) - parts.largest - parts.logarithm());
    });
}

DAHL_KERNEL(cross_entropy, types(T: real, L: label), scratch(sizeof(compute_t<T>) * labels.len()),
            pass(cross_entropy_samples, grid(blocks(labels.len(), 8)), block(32, 8)), pass(cross_entropy, grid(1), block(256)))
template <class T, class L>
__global__ void cross_entropy(View<const T, 2> logits, View<const L, 1> labels, View<compute_t<T>, 0> out, double factor, Task task) {
    using C = compute_t<T>;
    C sum = sum_of_samples<C>(labels.len(), task);
    if (threadIdx.x == 0) out.at() += C(factor) * sum;
}

DAHL_KERNEL(cross_entropy_backward, types(T: real, L: label), grid(blocks(labels.len(), 8)), block(32, 8))
template <class T, class L>
__global__ void cross_entropy_backward(View<const T, 2> logits, View<const L, 1> labels, View<T, 2> out, double factor, Task task) {
    using C = compute_t<T>;
    size_t classes = logits.extent(1);
    for_each_lane(logits.extent(0), classes, 1, [&](const LaneShare &share, size_t sample) {
        Lane<const T> row = row_of(logits, sample);
        Lane<T> results = row_of(out, sample);
        auto parts = SoftmaxParts<C>::of(share, row);
        L label = labels.at(sample);
        if (!is_class(label, classes)) task.fail(sample);
        for (size_t i = share.first; i < share.end; i += share.step) {
            C element = widen(row[i]);
            C gradient = uint64_t(label) == i ? parts.softmax_less_one(element, i) : parts.softmax(element);
            results[i] = narrow<T>(gradient * C(factor));
        }
    });
}

template <class T, class L>
__global__ void count_correct_samples(View<const T, 2> logits, View<const L, 1> labels, View<uint32_t, 0> out, Task task) {
    size_t classes = logits.extent(1);
    for_each_lane(logits.extent(0), classes, 1, [&](const LaneShare &share, size_t sample) {
        Lane<const T> row = row_of(logits, sample);
        auto found = FirstExtreme<compute_t<T>, 1>::identity();
        for (size_t i = share.first; i < share.end; i += share.step) found.add(widen(row[i]), i);
        found = share.fold(found);
        if (!share.leads) return;
        L label = labels.at(sample);
        if (!is_class(label, classes)) return task.fail(sample);
        task.scratch_as<uint32_t>()[sample] = found.index == uint64_t(label);
    });
}

DAHL_KERNEL(count_correct, types(T: real, L: label), scratch(4 * labels.len()),
            pass(count_correct_samples, grid(blocks(labels.len(), 8)), block(32, 8)), pass(count_correct, grid(1), block(256)))
template <class T, class L>
__global__ void count_correct(View<const T, 2> logits, View<const L, 1> labels, View<uint32_t, 0> out, Task task) {
    uint32_t sum = sum_of_samples<uint32_t>(labels.len(), task);
    if (threadIdx.x == 0) out.at() += sum;
}
