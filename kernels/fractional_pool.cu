// Maxima of windows at random distances (Graham 2014, Fractional Max-Pooling).
//
//     fractional_max_pool:  out[n, c, p] = the largest of input[n, c, start(p) .. start(p) + size], with its index in the plane
//
// Along an axis, start(p) = floor((p + u) * alpha) - floor(u * alpha) with alpha = (input - size) / (output - 1), and the
// last window ends at the end. The number u is one of the CPU's random numbers: axis `a` of plane `i` has the number
// `offset + i * axes + a` of the sequence. A thread computes the numbers of its plane again (`include/philox.cuh`), which
// takes less than reading them from memory.
//
// One thread for each element of the output, as for other windows (`include/span.cuh`). The gradient is that of `max_pool`.
#include "philox.cuh"
#include "span.cuh"

using namespace dahl;

struct Fractional {
    Spatial from, size, to;
    double uniform[SPATIAL];

    DAHL_DEVICE Span span(int axis, uint64_t position) const {
        return {start(from[axis], to[axis], axis, position), size[axis], 1, size[axis]};
    }

  private:
    DAHL_DEVICE uint64_t start(uint64_t input, uint64_t count, int axis, uint64_t position) const {
        if (position + 1 == count) return input - size[axis];
        double alpha = double(input - size[axis]) / double(count - 1);
        return uint64_t((double(position) + uniform[axis]) * alpha) - uint64_t(uniform[axis] * alpha);
    }
};

DAHL_KERNEL(fractional_max_pool, types(T: real), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void fractional_max_pool(View<const T, ANY> input, View<T, ANY> out, View<uint32_t, ANY> index, Extents<ANY> size,
                                    Extents<ANY> extents, uint64_t seed, uint64_t offset) {
    Spatial from = Spatial::extents(volumes(input)), to = Spatial::extents(volumes(out)), sizes = Spatial::given(size, 1);
    uint64_t axes = size.count;
    max_of_windows<T>(input, out, index, [&](uint64_t plane) {
        Fractional windows = {from, sizes, to, {0, 0, 0}};
#pragma unroll
        for (int axis = 0; axis < SPATIAL; axis++) {
            if (axis + axes < SPATIAL) continue; // an axis of one element, which is not there
            uint64_t number = offset + plane * axes + (axis + axes - SPATIAL);
            UniformPair pair = uniform_pair(seed, number / 2);
            windows.uniform[axis] = number % 2 == 0 ? pair.first : pair.second;
        }
        return windows;
    });
}
