// The labels of samples with the weights of the classes, and what the losses of the samples are multiplied by.
//
// The mean of losses is their sum divided by the sum of the weights of the labels that count, over all samples. So a first
// pass, which is launched for a mean alone, leaves parts of this sum in scratch memory, and every block of the next one merges
// them, in the same order: they are few, and cached.
#pragma once

#include "fold.cuh"
#include "label.cuh"

namespace dahl {

// As `ops::LossReduction`.
enum Reduction : uint8_t { REDUCE_SUM, REDUCE_MEAN };

template <class T, class L> struct WeightedLabels {
    using C = compute_t<T>;
    const View<const L, 1> &labels;
    const View<const T, 1> &weights; // one for each class, or one for all
    size_t classes;
    int64_t ignored;

    DAHL_DEVICE C weight(size_t class_) const { return widen(weights.at(weights.extent(0) == 1 ? 0 : class_)); }
    // The class of a sample; NONE if it does not count. The task fails if it counts and is none of the classes.
    static constexpr size_t NONE = ~size_t(0);
    DAHL_DEVICE size_t class_of(size_t sample, const Task &task) const {
        L label = labels.at(sample);
        if (int64_t(label) == ignored) return NONE;
        if (is_class(label, classes)) return size_t(label);
        task.fail(sample);
        return NONE;
    }
    // The weight of a class; 0 for NONE.
    DAHL_DEVICE C weight_of(size_t class_) const { return class_ == NONE ? C(0) : weight(class_); }

    // Leaves parts of the sum of the weights of all samples. For grid(blocks(labels.len(), 2048) * reduction), block(256).
    DAHL_DEVICE void leave_weights(const Task &task) const {
        fold_parts<Sum<C>>(labels.extent(0), task.scratch, [&](auto &sum, size_t sample) { sum.add(weight_of(class_of(sample, task))); });
    }
    // What the losses are multiplied by. All threads of a block of FOLD_THREADS must call it.
    DAHL_DEVICE C scale(uint8_t reduction, double factor, const Task &task) const {
        if (reduction == REDUCE_SUM) return C(factor);
        auto sum = Sum<C>::identity();
        for (size_t part = thread_in_block(); part < blocks(labels.extent(0), PART); part += FOLD_THREADS) {
            sum.merge(task.scratch_as<Sum<C>>()[part]);
        }
        return C(factor) / fold_block(sum).value;
    }
    // The sum of the weights of all classes. All threads of a block of FOLD_THREADS must call it.
    DAHL_DEVICE C of_all_classes() const {
        if (weights.extent(0) == 1) return weight(0) * C(double(classes));
        auto sum = Sum<C>::identity();
        for (size_t class_ = thread_in_block(); class_ < classes; class_ += FOLD_THREADS) sum.add(weight(class_));
        return fold_block(sum).value;
    }
};

// The scratch memory behind the parts of the sum of weights: a number in the compute type for each sample.
template <class C> DAHL_DEVICE C *losses_of(size_t samples, const Task &task) {
    return task.scratch_as<C>() + 4 * blocks(samples, PART);
}

// Adds to `out` the sum of the losses in scratch memory. For grid(1), block(256).
template <class C> DAHL_DEVICE void add_losses(size_t samples, C scale, const View<C, 0> &out, const Task &task) {
    auto sum = Sum<C>::identity();
    for (size_t sample = threadIdx.x; sample < samples; sample += FOLD_THREADS) sum.add(losses_of<C>(samples, task)[sample]);
    C total = fold_block(sum).value;
    // A scale that is infinite, if no label counts, makes the mean of nothing: NaN.
    if (threadIdx.x == 0) out.at() += total + scale * C(0);
}

} // namespace dahl
