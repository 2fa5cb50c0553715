// rotate_180: out[.., i, j] = input[.., rows - 1 - i, cols - 1 - j].
//
// In row-major order, each plane is reversed. A warp still reads and writes whole lines of memory, one of them in
// descending order.
#include "dahl.cuh"

using namespace dahl;

DAHL_KERNEL(rotate_180, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void rotate_180(View<const T, ANY> input, View<T, ANY> out) {
    Elements<const T> from(input);
    Elements<T> to(out);
    size_t plane = out.extents_product(out.rank() - 2, out.rank());
    for (size_t i = first_index(); i < to.len; i += grid_threads()) {
        Division place = divide(i, plane);
        to[i] = from[place.quotient * plane + (plane - 1 - place.remainder)];
    }
}
