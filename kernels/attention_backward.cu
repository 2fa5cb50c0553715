// The gradients of attention by queries, keys and values, from its outputs and the gradients by them.
//
// The probabilities are computed again from the scores and `log_sum_exp`. One pass has a tile of keys in each block, the
// last a tile of queries: each block owns what it writes (`include/attention_backward.cuh`).
#include "attention_backward.cuh"

using namespace dahl;

template <class T, class L>
__global__ void attention_backward_alongs(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value,
                                          View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                          View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                          double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    leave_alongs(inputs);
}

template <class T, class L>
__global__ void attention_backward_keys(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value,
                                        View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                        View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                        double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    attend_backward_keys(inputs, NoMask(), by_key, by_value, scale, causal);
}

DAHL_KERNEL(attention_backward, types(T: real, L: compute(T)), scratch(sizeof(L) * log_sum_exp.len()),
            pass(attention_backward_alongs, grid(blocks(log_sum_exp.len(), 8)), block(32, 8)),
            pass(attention_backward_keys,
                 grid(blocks(key.extent(2), 256 / sizeof(L)), blocks(max(key.extent(3), value.extent(3)), 512 / sizeof(L)),
                      blocks(key.extent(0) * key.extent(1), 1)),
                 block(16, 16)),
            pass(attention_backward,
                 grid(blocks(query.extent(2), 256 / sizeof(L)), blocks(query.extent(3), 512 / sizeof(L)),
                      blocks(query.extent(0) * query.extent(1), 1)),
                 block(16, 16)))
template <class T, class L>
__global__ void attention_backward(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value,
                                   View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                   View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                   double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    attend_backward_queries(inputs, NoMask(), by_query, scale, causal);
}
