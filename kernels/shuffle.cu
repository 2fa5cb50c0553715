// Seeded shuffling.
//
//     permutation:  out = the numbers below its length, in an order that depends on seed and length alone
//     gather_rows:  out[i] = input[indices[i]], along the first axis
//
// The permutation is Fisher and Yates's, the same as on the CPU, and so its swaps are sequential. The random numbers
// can be drawn in parallel, so a first pass draws them; then one thread swaps. Its speed is limited by the latency of
// memory: some microseconds for each ten steps, once an epoch.
#include "philox.cuh"

using namespace dahl;

__global__ void permutation_steps(View<uint32_t, ANY> out, uint64_t seed, Scratch scratch) {
    Elements<uint32_t> numbers(out);
    for (size_t i = first_index(); i < numbers.len; i += grid_threads()) {
        numbers[i] = uint32_t(i);
        scratch.as<uint32_t>()[i] = uint32_t(index_below(i + 1, seed, i));
    }
}

DAHL_KERNEL(permutation, scratch(4 * out.len()), pass(permutation_steps, grid(blocks(out.len(), 256)), block(256)),
            pass(permutation, grid(1), block(1)))
__global__ void permutation(View<uint32_t, ANY> out, uint64_t seed, Scratch scratch) {
    Elements<uint32_t> numbers(out);
    for (size_t last = numbers.len; last-- > 1;) {
        uint32_t other = scratch.as<uint32_t>()[last], number = numbers[last];
        numbers[last] = numbers[other];
        numbers[other] = number;
    }
}

DAHL_KERNEL(gather_rows, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void gather_rows(View<const T, ANY> input, View<const uint32_t, 1> indices, View<T, ANY> out, Task task) {
    Lanes<const T> from(input, 0);
    Lanes<T> to(out, 0);
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        Position place = to.position(i);
        uint32_t row = indices.at(place.along);
        if (row < from.extent) {
            to.at(place) = from.at(0, row, place.after);
        } else {
            task.fail(place.along);
        }
    }
}
