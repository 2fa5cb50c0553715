// The backward pass through a rectifier and a pooling: gradients whose output is above 0 or NaN pass the rectifier.
// They are summed by channel, and written to the places that the pooling took the outputs from.
//
// An index does not tell the window, so any index of a plane may name any place. A block takes 4096 places of a plane
// at a time: in shared memory, each place gets the number of the last pooled element that names it, by integer atomics,
// whose result does not depend on the order; then the threads write place after place that element's gradient if it
// passes, or 0. So if two indices are the same, which those of one pooling never are, the later one counts, as on the
// CPU.
//
// That pass also reads each term of the gradient by the bias, so it leaves sums of them as well: for each channel, one
// for each part of the images. The next pass adds those of a channel.
#pragma once

#include "chunk.cuh"
#include "fold.cuh"
#include "plane.cuh"

namespace dahl {

// The gradient behind a rectifier with this output; a NaN lets it pass.
template <class T> DAHL_DEVICE T passed_element(T gradient, T output) { return widen(output) <= compute_t<T>(0) ? T() : gradient; }
template <class T> DAHL_DEVICE compute_t<T> passed(T gradient, T output) { return widen(passed_element(gradient, output)); }

// Adds to `by_bias` the gradients of each channel that pass. For grid(blocks(channels, 1)), block(256). A thread takes
// the elements of a chunk of a plane, and finds the next chunk by addition, in the same plane or in one of a later
// image.
template <class T>
DAHL_DEVICE void add_passed(const View<const T, 4> &gradient, const View<const T, 4> &output, const View<compute_t<T>, 1> &by_bias) {
    using S = Sum<compute_t<T>>;
    size_t images = gradient.extent(0), each_plane = ceil_div(gradient.extent(2) * gradient.extent(3), EACH<T>);
    Division begin = each_plane == 0 ? Division{images, 0} : divide(threadIdx.x, each_plane);
    Division step = each_plane == 0 ? Division{1, 0} : divide(FOLD_THREADS, each_plane);
    for (size_t channel = blockIdx.x; channel < by_bias.len(); channel += gridDim.x) {
        S sum = S::identity();
        size_t image = begin.quotient, place = begin.remainder;
        while (image < images) {
            T gradients[AHEAD][EACH<T>], outputs[AHEAD][EACH<T>];
#pragma unroll
            for (unsigned ahead = 0; ahead < AHEAD; ahead++) {
                if (image < images) {
                    Plane<const T> from(gradient, image, channel), decides(output, image, channel);
                    load_each(from, from.is_run(), place * EACH<T>, gradients[ahead]);
                    load_each(decides, decides.is_run(), place * EACH<T>, outputs[ahead]);
                } else {
#pragma unroll
                    for (unsigned i = 0; i < EACH<T>; i++) gradients[ahead][i] = outputs[ahead][i] = T();
                }
                image += step.quotient;
                place += step.remainder;
                if (place >= each_plane) {
                    place -= each_plane;
                    image++;
                }
            }
#pragma unroll
            for (unsigned ahead = 0; ahead < AHEAD; ahead++) {
#pragma unroll
                for (unsigned i = 0; i < EACH<T>; i++) sum.add(passed<T>(gradients[ahead][i], outputs[ahead][i]));
            }
        }
        sum = fold_block(sum);
        if (threadIdx.x == 0) by_bias.at(channel) += sum.value;
    }
}

// The number of places of a plane that a block has in shared memory.
constexpr unsigned OWNED = 4096;

// The number of parts into which the images are split for the sums of channels: enough to fill a device, and at most
// one for each thread of the block that adds a channel's sums.
DAHL_DEVICE uint64_t parts_of_images(uint64_t images, uint64_t channels) {
    uint64_t parts = 8192 / (channels + 1) + 1;
    if (parts > FOLD_THREADS) parts = FOLD_THREADS;
    return parts < images ? parts : images;
}

// Calls `put(image, channel, place, value)` for each place of each plane of `places`, with the gradient for it, or 0.
// Writes the sum of the gradients of a channel that pass, in each part of the images, to `sums[channel * parts +
// part]`. For grid(blocks(channels, 1), parts of the images, blocks(places, OWNED)), block(256).
template <class T, class Put>
DAHL_DEVICE void unpool(const View<const T, 4> &gradient, const View<const T, 4> &output, const View<const uint32_t, 4> &index,
                        size_t places, const Task &task, compute_t<T> *sums, Put put) {
    using S = Sum<compute_t<T>>;
    // One more than the number of the last pooled element that names the place; 0 if none does.
    __shared__ uint32_t owners[OWNED];
    size_t images = gradient.extent(0), channels = gradient.extent(1), thread = threadIdx.x;
    for (size_t i = thread; i < OWNED && i < places; i += FOLD_THREADS) owners[i] = 0;
    __syncthreads();
    for (size_t channel = blockIdx.x; channel < channels; channel += gridDim.x) {
        S sum = S::identity();
        for (size_t image = blockIdx.y; image < images; image += gridDim.y) {
            Plane<const T> from(gradient, image, channel), decides(output, image, channel);
            Plane<const uint32_t> named(index, image, channel);
            // The loop runs even if there is no place: then every index is out of range and must be reported.
            for (size_t first = size_t(blockIdx.z) * OWNED; first == 0 || first < places; first += size_t(gridDim.z) * OWNED) {
                size_t count = places - first < OWNED ? places - first : OWNED;
                for (size_t i = thread; i < named.len; i += FOLD_THREADS) {
                    size_t place = named[i];
                    if (first == 0) {
                        sum.add(passed<T>(from[i], decides[i]));
                        if (place >= places) task.fail((image * channels + channel) * named.len + i);
                    }
                    if (place - first < count) atomicMax(&owners[place - first], uint32_t(i + 1));
                }
                __syncthreads();
                for (size_t i = thread; i < count; i += FOLD_THREADS) {
                    uint32_t owner = owners[i];
                    owners[i] = 0; // for the next places
                    put(image, channel, first + i, owner == 0 ? compute_t<T>(0) : passed<T>(from[owner - 1], decides[owner - 1]));
                }
                __syncthreads();
            }
        }
        if (blockIdx.z > 0) continue;
        sum = fold_block(sum);
        if (thread == 0) sums[channel * gridDim.y + blockIdx.y] = sum.value;
    }
}

// Adds to `by_bias` the sums of `parts` that `unpool` has left. For grid(blocks(channels, 1)), block(256).
template <class C> DAHL_DEVICE void add_sums(const C *sums, uint64_t parts, const View<C, 1> &by_bias) {
    for (size_t channel = blockIdx.x; channel < by_bias.len(); channel += gridDim.x) {
        Sum<C> sum = Sum<C>::identity();
        if (threadIdx.x < parts) sum.add(sums[channel * parts + threadIdx.x]);
        sum = fold_block(sum);
        if (threadIdx.x == 0) by_bias.at(channel) += sum.value;
    }
}

} // namespace dahl
