// Normalisation of groups of channels of each sample, and its gradients.
//
//     group_norm:           out = (input - mean) / sqrt(variance + epsilon) * weight + bias
//     group_norm_backward:  by_input = (weight * gradient - offset - x * slope) / sqrt(variance + epsilon),
//                           by_weight = sum of gradient * x, by_bias = sum of gradient
//
// with the mean and the (biased) variance of each group of adjacent channels of each sample; x is the normalised input,
// offset and slope are the means over the group of weight * gradient and of weight * gradient * x. Weights are of channels.
//
// A batch has many groups, so a block(256) takes a whole one, and goes over it for the sum, for the deviations and for the
// result: only the first time is it read from memory, unless it is larger than the cache. Backward, it goes over the
// planes of the group once more for the sums of the gradient: a warp takes a plane, or the whole block if planes are long
// or few. These sums stay in scratch memory, [sample, channel], and a second pass adds those of each channel: a warp for
// each, in the order of the samples.
#include "channel_norm.cuh"

using namespace dahl;

// The groups of an array: a group of a sample has `channels` channels, from `first` on.
template <class T> struct Groups {
    Planes<const T> input;
    size_t groups, channels, count;

    DAHL_DEVICE Groups(const View<const T, ANY> &view, size_t groups)
        : input(view), groups(groups), channels(input.channels / groups), count(channels * input.plane) {}

    // Calls `body(image, first)` for each group of the block.
    template <class Body> DAHL_DEVICE void for_each_group(Body body) const {
        for (size_t index = blockIdx.x; index < input.batch * groups; index += gridDim.x) {
            Division at = divide(index, groups);
            body(at.quotient, at.remainder * channels);
        }
    }
    // Calls `body(channel, i)` for each of this thread's elements of a group.
    template <class Body> DAHL_DEVICE void for_each_element(size_t first, Body body) const {
        for (size_t index = threadIdx.x; index < count; index += FOLD_THREADS) {
            Division at = divide(index, input.plane);
            body(first + at.quotient, at.remainder);
        }
    }

    DAHL_DEVICE Normaliser<compute_t<T>> normaliser(size_t image, size_t first, compute_t<T> epsilon) const {
        auto sum = Sum<double>::identity();
        for_each_element(first, [&](size_t channel, size_t i) { sum.add(double(widen(input.at(image, channel, i)))); });
        double total = fold_block(sum).value, mean = total / double(count);
        auto sums = Deviations::identity();
        for_each_element(first, [&](size_t channel, size_t i) { sums.add(double(widen(input.at(image, channel, i))) - mean); });
        return Normaliser<compute_t<T>>::of(total, fold_block(sums), double(count), epsilon);
    }
};

DAHL_KERNEL(group_norm, types(T: real), grid(blocks(input.extent(0) * groups, 1)), block(256))
template <class T>
__global__ void group_norm(View<const T, ANY> input, View<const T, 1> weight, View<const T, 1> bias, View<T, ANY> out, size_t groups,
                           T epsilon) {
    Groups<T> all(input, groups);
    Planes<T> to(out);
    all.for_each_group([&](size_t image, size_t first) {
        auto normaliser = all.normaliser(image, first, widen(epsilon));
        all.for_each_element(first, [&](size_t channel, size_t i) {
            auto factor = normaliser.inverse * widen(weight.at(channel));
            auto centred = normaliser.centred(widen(all.input.at(image, channel, i)));
            to.at(image, channel, i) = narrow<T>(centred * factor + widen(bias.at(channel)));
        });
    });
}

// Planes that are at least so long, or fewer in a group than there are warps, are folded by the whole block.
constexpr size_t LONG_PLANE = 1024;

template <class T>
__global__ void group_norm_backward_by_input(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient,
                                             View<T, ANY> by_input, View<T, 1> by_weight, View<T, 1> by_bias, size_t groups, T epsilon,
                                             Scratch scratch) {
    using C = compute_t<T>;
    Groups<T> all(input, groups);
    Planes<const T> gradients(gradient);
    Planes<T> to(by_input);
    size_t plane = all.input.plane;
    bool by_block = plane >= LONG_PLANE || all.channels < FOLD_WARPS;
    unsigned takes = by_block ? 0 : threadIdx.x / WARP_THREADS, step = by_block ? 1 : FOLD_WARPS;
    unsigned thread = by_block ? threadIdx.x : threadIdx.x % WARP_THREADS, threads = by_block ? FOLD_THREADS : WARP_THREADS;
    all.for_each_group([&](size_t image, size_t first) {
        Normaliser<C> normaliser = all.normaliser(image, first, widen(epsilon));
        GradientSums *of_planes = scratch.as<GradientSums>() + image * all.input.channels;
        for (size_t channel = first + takes; channel < first + all.channels; channel += step) {
            auto sums = GradientSums::identity();
            for (size_t i = thread; i < plane; i += threads) {
                sums.add(normaliser, widen(all.input.at(image, channel, i)), widen(gradients.at(image, channel, i)));
            }
            if (by_block) {
                sums = fold_block(sums);
            } else {
                fold_warp(sums);
            }
            if (thread == 0) of_planes[channel] = sums;
        }
        __syncthreads();
        auto sums = GradientSums::identity();
        for (size_t channel = first + threadIdx.x; channel < first + all.channels; channel += FOLD_THREADS) {
            sums.add_weighted(of_planes[channel], double(widen(weight.at(channel))));
        }
        sums = fold_block(sums);
        C offset = C(sums.gradient / double(all.count)), slope = C(sums.product / double(all.count));
        all.for_each_element(first, [&](size_t channel, size_t i) {
            C weighted = widen(weight.at(channel)) * widen(gradients.at(image, channel, i));
            to.at(image, channel, i) = narrow<T>(by_normalised(normaliser, widen(all.input.at(image, channel, i)), weighted, offset, slope));
        });
    });
}

DAHL_KERNEL(group_norm_backward, types(T: real), scratch(16 * input.extent(0) * input.extent(1)),
            pass(group_norm_backward_by_input, grid(blocks(input.extent(0) * groups, 1)), block(256)),
            pass(group_norm_backward, grid(blocks(input.extent(1), 8)), block(32, 8)))
template <class T>
__global__ void group_norm_backward(View<const T, ANY> input, View<const T, 1> weight, View<const T, ANY> gradient, View<T, ANY> by_input,
                                    View<T, 1> by_weight, View<T, 1> by_bias, size_t groups, T epsilon, Scratch scratch) {
    size_t batch = input.extent(0), channels = input.extent(1);
    size_t warps = size_t(gridDim.x) * FOLD_WARPS;
    for (size_t channel = size_t(blockIdx.x) * FOLD_WARPS + threadIdx.y; channel < channels; channel += warps) {
        auto sums = GradientSums::identity();
        for (size_t image = threadIdx.x; image < batch; image += WARP_THREADS) {
            sums.merge(scratch.as<GradientSums>()[image * channels + channel]);
        }
        fold_warp(sums);
        if (threadIdx.x > 0) continue;
        by_weight.at(channel) = from_double<T>(sums.product);
        by_bias.at(channel) = from_double<T>(sums.gradient);
    }
}
