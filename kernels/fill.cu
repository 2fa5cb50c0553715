// fill: out = value, every element.                                out: of any shape
//
// Nothing is read, so the limit is the bandwidth of stores. The value is repeated over 16 bytes, the widest store there
// is, and neighbouring threads store neighbouring chunks, where the array is contiguous and aligned for it. The
// remainder at the end, and strided parts of arrays, are stored element by element (as in `copy.cu`).
#include "chunk.cuh"

using namespace dahl;

DAHL_KERNEL(fill, types(T: element), grid(blocks(out.len(), 1024)), block(256))
template <class T> __global__ void fill(View<T, ANY> out, T value) {
    Elements<T> to(out);
    size_t done = 0;
    if (Chunk::fits(to)) {
        size_t chunks = to.len * sizeof(T) / sizeof(Chunk);
        Chunk filled = Chunk::filled(value);
        for (size_t i = first_index(); i < chunks; i += grid_threads()) Chunk::of(to, i) = filled;
        done = chunks * sizeof(Chunk) / sizeof(T);
    }
    for (size_t i = done + first_index(); i < to.len; i += grid_threads()) to[i] = value;
}
