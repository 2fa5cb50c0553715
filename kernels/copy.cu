// copy: out = input, element by element; strided parts of arrays as they lie.
//
// Nothing is computed, so only memory bandwidth counts. Where both arrays are contiguous and 16-byte aligned, each
// thread moves 16 bytes at a time, the widest access there is; otherwise one element, neighbouring threads neighbouring
// elements.
#include "chunk.cuh"

using namespace dahl;

DAHL_KERNEL(copy, types(T: element), grid(blocks(out.len(), 1024)), block(256))
template <class T> __global__ void copy(View<const T, ANY> input, View<T, ANY> out) {
    Elements<const T> from(input);
    Elements<T> to(out);
    size_t done = 0;
    if (Chunk::fits(from) && Chunk::fits(to)) {
        size_t chunks = to.len * sizeof(T) / sizeof(Chunk);
        for (size_t i = first_index(); i < chunks; i += grid_threads()) Chunk::of(to, i) = Chunk::of(from, i);
        done = chunks * sizeof(Chunk) / sizeof(T);
    }
    for (size_t i = done + first_index(); i < to.len; i += grid_threads()) to[i] = from[i];
}
