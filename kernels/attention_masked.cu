// Attention of the keys where a mask is not 0, and its gradients.
//
// As `attention.cu` and `attention_backward.cu`. The mask, `[batch or 1, tokens, keys]`, is read a byte for each score.
#include "attention_backward.cuh"

using namespace dahl;

DAHL_KERNEL(attention_masked, types(T: real, L: compute(T)),
            grid(blocks(query.extent(2), 256 / sizeof(compute_t<T>)), blocks(value.extent(3), 512 / sizeof(compute_t<T>)),
                 blocks(query.extent(0) * query.extent(1), 1)),
            block(16, 16))
template <class T, class L>
__global__ void attention_masked(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<const uint8_t, 3> mask,
                                 View<T, 4> out, View<L, 3> log_sum_exp, double scale, bool causal) {
    attend(query, key, value, Mask(mask), out, log_sum_exp, scale, causal);
}

template <class T, class L>
__global__ void attention_masked_backward_alongs(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<const uint8_t, 3> mask,
                                                 View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                                 View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                                 double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    leave_alongs(inputs);
}

template <class T, class L>
__global__ void attention_masked_backward_keys(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<const uint8_t, 3> mask,
                                               View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                               View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                               double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    attend_backward_keys(inputs, Mask(mask), by_key, by_value, scale, causal);
}

DAHL_KERNEL(attention_masked_backward, types(T: real, L: compute(T)), scratch(sizeof(L) * log_sum_exp.len()),
            pass(attention_masked_backward_alongs, grid(blocks(log_sum_exp.len(), 8)), block(32, 8)),
            pass(attention_masked_backward_keys,
                 grid(blocks(key.extent(2), 256 / sizeof(L)), blocks(max(key.extent(3), value.extent(3)), 512 / sizeof(L)),
                      blocks(key.extent(0) * key.extent(1), 1)),
                 block(16, 16)),
            pass(attention_masked_backward,
                 grid(blocks(query.extent(2), 256 / sizeof(L)), blocks(query.extent(3), 512 / sizeof(L)),
                      blocks(query.extent(0) * query.extent(1), 1)),
                 block(16, 16)))
template <class T, class L>
__global__ void attention_masked_backward(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<const uint8_t, 3> mask,
                                          View<const T, 4> out, View<const L, 3> log_sum_exp, View<const T, 4> gradient,
                                          View<const L, 3> gradient_log_sum_exp, View<T, 4> by_query, View<T, 4> by_key, View<T, 4> by_value,
                                          double scale, bool causal, Scratch scratch) {
    AttentionInputs<T> inputs = {query, key, value, out, log_sum_exp, gradient, gradient_log_sum_exp, scratch.as<L>()};
    attend_backward_queries(inputs, Mask(mask), by_query, scale, causal);
}
