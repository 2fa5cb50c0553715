// Normalisation of channels over a batch, and its gradients.
//
//     batch_norm:           out = (input - mean) / sqrt(variance + epsilon) * weight + bias
//     batch_norm_backward:  by_input = (weight * gradient - offset - x * slope) / sqrt(variance + epsilon),
//                           by_weight = sum of gradient * x, by_bias = sum of gradient
//
// with the mean and the (biased) variance of each channel over batch and plane; x is the normalised input, offset and slope
// are the means of weight * gradient and of weight * gradient * x.
//
// Every result needs sums over a whole channel, and channels are few and long. So grid.y goes over the channels, and
// grid.x over the parts of each, as many as give a device's worth of blocks. Blocks cannot wait for each other: each sum is a
// pass that leaves its parts in scratch memory, and every block of the next pass merges the parts of its channel, which are
// few, and cached. Forward, the input is read three times (for the sum, the deviations and the result), backward four times,
// and the gradient twice; neighbouring threads read neighbouring elements of a plane.
//
// A plane of one element, as of features that are no images, makes neighbouring threads read elements a whole row apart.
#include "channel_norm.cuh"

using namespace dahl;

// A block's part of a channel, and what the passes leave in scratch memory for all of them: [channel, part] each.
template <class T> struct ChannelPart {
    Planes<const T> input;
    size_t count, parts;
    double *totals;
    Deviations *deviations;
    GradientSums *gradients;

    DAHL_DEVICE ChannelPart(const View<const T, ANY> &view, const Scratch &scratch)
        : input(view), count(input.batch * input.plane), parts(gridDim.x), totals(scratch.as<double>()),
          deviations(reinterpret_cast<Deviations *>(totals + input.channels * parts)),
          gradients(reinterpret_cast<GradientSums *>(deviations + input.channels * parts)) {}

    // Calls `body(channel)` for each channel of the block.
    template <class Body> DAHL_DEVICE void for_each_channel(Body body) const {
        for (size_t channel = blockIdx.y; channel < input.channels; channel += gridDim.y) body(channel);
    }
    // Calls `body(image, i)` for each of this thread's elements of a channel.
    template <class Body> DAHL_DEVICE void for_each_element(Body body) const {
        for (size_t index = first_index(); index < count; index += grid_threads()) {
            Division at = divide(index, input.plane);
            body(at.quotient, at.remainder);
        }
    }
    // Leaves the accumulator of this block's part.
    template <class A> DAHL_DEVICE void leave(A *all, size_t channel, A accumulator) const {
        accumulator = fold_block(accumulator);
        if (threadIdx.x == 0) all[channel * parts + blockIdx.x] = accumulator;
    }
    // Merges those of all parts of a channel; all threads have the result.
    template <class A> DAHL_DEVICE A merged(const A *all, size_t channel) const {
        A accumulator = A::identity();
        for (size_t part = threadIdx.x; part < parts; part += FOLD_THREADS) accumulator.merge(all[channel * parts + part]);
        return fold_block(accumulator);
    }
    DAHL_DEVICE double total(size_t channel) const { return merged(reinterpret_cast<const Sum<double> *>(totals), channel).value; }

    DAHL_DEVICE Normaliser<compute_t<T>> normaliser(size_t channel, compute_t<T> epsilon) const {
        return Normaliser<compute_t<T>>::of(total(channel), merged(deviations, channel), double(count), epsilon);
    }

    DAHL_DEVICE void leave_totals() const {
        for_each_channel([&](size_t channel) {
            auto sum = Sum<double>::identity();
            for_each_element([&](size_t image, size_t i) { sum.add(double(widen(input.at(image, channel, i)))); });
            leave(reinterpret_cast<Sum<double> *>(totals), channel, sum);
        });
    }
    DAHL_DEVICE void leave_deviations() const {
        for_each_channel([&](size_t channel) {
            double mean = total(channel) / double(count);
            auto sums = Deviations::identity();
            for_each_element([&](size_t image, size_t i) { sums.add(double(widen(input.at(image, channel, i))) - mean); });
            leave(deviations, channel, sums);
        });
    }
};

template <class T>
__global__ void batch_norm_totals(View<const T, ANY> input, View<const T, 1> weight, View<const T, 1> bias, View<T, ANY> out,
                                  View<T, 1> mean, View<T, 1> variance, T epsilon, Scratch scratch) {
    ChannelPart<T>(input, scratch).leave_totals();
}

template <class T>
__global__ void batch_norm_deviations(View<const T, ANY> input, View<const T, 1> weight, View<const T, 1> bias, View<T, ANY> out,
                                      View<T, 1> mean, View<T, 1> variance, T epsilon, Scratch scratch) {
    ChannelPart<T>(input, scratch).leave_deviations();
}

DAHL_KERNEL(batch_norm, types(T: real),
            let(parts = max(min(input.len() / max(input.extent(1), 1) / 2048, 1024 / max(input.extent(1), 1)), 1)),
            scratch(24 * input.extent(1) * parts),
            pass(batch_norm_totals, grid(parts, blocks(input.extent(1), 1)), block(256)),
            pass(batch_norm_deviations, grid(parts, blocks(input.extent(1), 1)), block(256)),
            pass(batch_norm, grid(parts, blocks(input.extent(1), 1)), block(256)))
template <class T>
__global__ void batch_norm(View<const T, ANY> input, View<const T, 1> weight, View<const T, 1> bias, View<T, ANY> out,
                           View<T, 1> mean, View<T, 1> variance, T epsilon, Scratch scratch) {
    using C = compute_t<T>;
    ChannelPart<T> part(input, scratch);
    Planes<T> to(out);
    part.for_each_channel([&](size_t channel) {
        Normaliser<C> normaliser = part.normaliser(channel, widen(epsilon));
        C factor = normaliser.inverse * widen(weight.at(channel)), added = widen(bias.at(channel));
        part.for_each_element([&](size_t image, size_t i) {
            to.at(image, channel, i) = narrow<T>(normaliser.centred(widen(part.input.at(image, channel, i))) * factor + added);
        });
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            mean.at(channel) = from_double<T>(normaliser.exact_mean);
            variance.at(channel) = from_double<T>(normaliser.variance);
        }
    });
}

template <class T>
__global__ void batch_norm_backward_totals(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient,
                                           View<T, ANY> by_input, View<T, 1> by_weight, View<T, 1> by_bias, T epsilon, Scratch scratch) {
    ChannelPart<T>(input, scratch).leave_totals();
}

template <class T>
__global__ void batch_norm_backward_deviations(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient,
                                               View<T, ANY> by_input, View<T, 1> by_weight, View<T, 1> by_bias, T epsilon,
                                               Scratch scratch) {
    ChannelPart<T>(input, scratch).leave_deviations();
}

template <class T>
__global__ void batch_norm_backward_gradients(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient,
                                              View<T, ANY> by_input, View<T, 1> by_weight, View<T, 1> by_bias, T epsilon,
                                              Scratch scratch) {
    ChannelPart<T> part(input, scratch);
    Planes<const T> gradients(gradient);
    part.for_each_channel([&](size_t channel) {
        auto normaliser = part.normaliser(channel, widen(epsilon));
        auto sums = GradientSums::identity();
        part.for_each_element([&](size_t image, size_t i) {
            sums.add(normaliser, widen(part.input.at(image, channel, i)), widen(gradients.at(image, channel, i)));
        });
        part.leave(part.gradients, channel, sums);
    });
}

DAHL_KERNEL(batch_norm_backward, types(T: real),
            let(parts = max(min(input.len() / max(input.extent(1), 1) / 2048, 1024 / max(input.extent(1), 1)), 1)),
            scratch(40 * input.extent(1) * parts),
            pass(batch_norm_backward_totals, grid(parts, blocks(input.extent(1), 1)), block(256)),
            pass(batch_norm_backward_deviations, grid(parts, blocks(input.extent(1), 1)), block(256)),
            pass(batch_norm_backward_gradients, grid(parts, blocks(input.extent(1), 1)), block(256)),
            pass(batch_norm_backward, grid(parts, blocks(input.extent(1), 1)), block(256)))
template <class T>
__global__ void batch_norm_backward(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient,
                                    View<T, ANY> by_input, View<T, 1> by_weight, View<T, 1> by_bias, T epsilon, Scratch scratch) {
    using C = compute_t<T>;
    ChannelPart<T> part(input, scratch);
    Planes<const T> gradients(gradient);
    Planes<T> to(by_input);
    part.for_each_channel([&](size_t channel) {
        Normaliser<C> normaliser = part.normaliser(channel, widen(epsilon));
        GradientSums sums = part.merged(part.gradients, channel);
        C factor = widen(weight.at(channel));
        C offset = C(double(factor) * sums.gradient / double(part.count)), slope = C(double(factor) * sums.product / double(part.count));
        part.for_each_element([&](size_t image, size_t i) {
            C weighted = factor * widen(gradients.at(image, channel, i));
            to.at(image, channel, i) = narrow<T>(by_normalised(normaliser, widen(part.input.at(image, channel, i)), weighted, offset, slope));
        });
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            by_weight.at(channel) = from_double<T>(sums.product);
            by_bias.at(channel) = from_double<T>(sums.gradient);
        }
    });
}
