// Attention, the softmax of the products of queries and keys, times values.
//
//     attention:  out = softmax(scale * query x transposed(key)) x value
//                 log_sum_exp = ln(sum of exp(scale * query x transposed(key)))      for each query of each head
//
// A block has 64 queries of one head (32 in double) and goes over the keys in tiles; the scores stay in registers and in
// shared memory (`include/attention.cuh`). So memory is read and written in proportion to the tokens, not to their square.
#include "attention.cuh"

using namespace dahl;

DAHL_KERNEL(attention, types(T: real, L: compute(T)),
            grid(blocks(query.extent(2), 256 / sizeof(compute_t<T>)), blocks(value.extent(3), 512 / sizeof(compute_t<T>)),
                 blocks(query.extent(0) * query.extent(1), 1)),
            block(16, 16))
template <class T, class L>
__global__ void attention(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<T, 4> out, View<L, 3> log_sum_exp,
                          double scale, bool causal) {
    attend(query, key, value, NoMask(), out, log_sum_exp, scale, causal);
}
