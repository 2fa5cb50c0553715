// The gradients of attention, in tiles (`attention.cuh`). With the probabilities `p = exp(score - log_sum_exp)`, which are
// computed again from the scores:
//
//     by_value = transposed(p) x gradient
//     slopes   = p * (gradient x transposed(value) - along)      along = sum of out * gradient - gradient_log_sum_exp
//     by_query = scale * slopes x key
//     by_key   = scale * transposed(slopes) x query
//
// Three passes: one leaves `along` of each query in scratch memory; one has a tile of keys in each block and goes over the
// queries; one has a tile of queries and goes over the keys. So each block owns what it writes, and the scores are computed
// twice: two products of four more than if one pass added to memory that all blocks share, in any order.
#pragma once

#include "attention.cuh"

namespace dahl {

template <class T> struct AttentionInputs {
    using C = compute_t<T>;
    const View<const T, 4> &query, &key, &value, &out;
    const View<const C, 3> &log_sum_exp;
    const View<const T, 4> &gradient;
    const View<const C, 3> &gradient_log_sum_exp;
    // Of each query of each head.
    C *alongs;

    DAHL_DEVICE size_t heads() const { return query.extent(1); }
    DAHL_DEVICE size_t tokens() const { return query.extent(2); }
    DAHL_DEVICE size_t keys() const { return key.extent(2); }
    // How many heads share a key and a value.
    DAHL_DEVICE size_t shared_by() const { return heads() / key.extent(1); }
};

// The first pass: a warp for each query. For grid(blocks(queries, 8)), block(32, 8).
template <class T> DAHL_DEVICE void leave_alongs(const AttentionInputs<T> &inputs) {
    using C = compute_t<T>;
    size_t tokens = inputs.tokens(), heads = inputs.heads(), count = inputs.query.extent(0) * heads * tokens;
    for (size_t row = size_t(blockIdx.x) * FOLD_WARPS + threadIdx.y; row < count; row += size_t(gridDim.x) * FOLD_WARPS) {
        Division place = divide(row, tokens), head = divide(place.quotient, heads);
        auto sum = Sum<C>::identity();
        for (size_t i = threadIdx.x; i < inputs.out.extent(3); i += WARP_THREADS) {
            sum.add(widen(inputs.out.at(head.quotient, head.remainder, place.remainder, i))
                    * widen(inputs.gradient.at(head.quotient, head.remainder, place.remainder, i)));
        }
        fold_warp(sum);
        if (threadIdx.x == 0) {
            inputs.alongs[row] = sum.value - inputs.gradient_log_sum_exp.at(head.quotient, head.remainder, place.remainder);
        }
    }
}

// What the gradients of a query's scores need beside its vectors.
template <class C> struct OfQuery {
    C shift, along;

    template <class T> static DAHL_DEVICE OfQuery at(const AttentionInputs<T> &inputs, size_t sample, size_t head, size_t token) {
        if (token >= inputs.tokens()) return {C(0), C(0)};
        C logarithm = inputs.log_sum_exp.at(sample, head, token);
        return {finite_shift(logarithm), inputs.alongs[(sample * inputs.heads() + head) * inputs.tokens() + token]};
    }
};

// The second pass: the gradients by keys and values. For grid(blocks(keys, 256 / sizeof(C)),
// blocks(the larger width, 512 / sizeof(C)), blocks(batch * key heads, 1)), block(16, 16).
template <class T, class M>
DAHL_DEVICE void attend_backward_keys(const AttentionInputs<T> &inputs, const M &masks, const View<T, 4> &by_key, const View<T, 4> &by_value,
                                      double scale, bool is_causal) {
    using C = compute_t<T>;
    using Tile = AttentionTile<C>;
    Tile &shared = Tile::of_block();
    size_t tokens = inputs.tokens(), keys = inputs.keys(), of_keys = inputs.key.extent(1);
    size_t width = inputs.key.extent(3) > inputs.value.extent(3) ? inputs.key.extent(3) : inputs.value.extent(3);
    for (size_t number = blockIdx.z; number < inputs.key.extent(0) * of_keys; number += gridDim.z) {
        size_t sample = number / of_keys, key_head = number % of_keys;
        Visibility<M> visible = {masks.of_sample(sample), tokens, keys, is_causal};
        View<const T, 2> k = of_head(inputs.key, sample, key_head), v = of_head(inputs.value, sample, key_head);
        for (size_t first = size_t(blockIdx.x) * Tile::ROWS; first < keys; first += size_t(gridDim.x) * Tile::ROWS) {
            for (size_t part = size_t(blockIdx.y) * Tile::SUMS; part < width; part += size_t(gridDim.y) * Tile::SUMS) {
                AttentionSums<C> key_sums, value_sums;
                clear<C>(key_sums);
                clear<C>(value_sums);
#pragma unroll 1
                for (size_t place = 0; place < inputs.shared_by(); place++) {
                    size_t head = key_head * inputs.shared_by() + place;
                    View<const T, 2> queries = of_head(inputs.query, sample, head), gradient = of_head(inputs.gradient, sample, head);
#pragma unroll 1
                    for (size_t from = 0; from < tokens; from += Tile::COLS) {
                        if (visible.seen_by_tile(from, Tile::COLS) <= first) continue;
                        auto sees = [&](unsigned row, unsigned place) { return visible.sees(from + place, first + row); };
                        AttentionProducts<C> powers, slopes;
                        multiply(shared, k, first, queries, from, false, powers);
                        OfQuery<C> of[Tile::EACH_COL];
#pragma unroll
                        for (unsigned j = 0; j < Tile::EACH_COL; j++) {
                            size_t token = from + threadIdx.x + SIDE * j;
                            of[j] = OfQuery<C>::at(inputs, sample, head, token);
#pragma unroll
                            for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
                                bool is_seen = visible.sees(token, first + threadIdx.y + SIDE * i);
                                powers[i][j] = is_seen ? exp(C(scale) * powers[i][j] - of[j].shift) : C(0);
                            }
                        }
                        accumulate(shared, powers, gradient, from, part, value_sums, sees);
                        multiply(shared, v, first, gradient, from, false, slopes);
#pragma unroll
                        for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
#pragma unroll
                            for (unsigned j = 0; j < Tile::EACH_COL; j++) {
                                bool is_seen = visible.sees(from + threadIdx.x + SIDE * j, first + threadIdx.y + SIDE * i);
                                slopes[i][j] = is_seen ? powers[i][j] * (slopes[i][j] - of[j].along) : C(0);
                            }
                        }
                        accumulate(shared, slopes, queries, from, part, key_sums, sees);
                    }
                }
                store_sums(value_sums, of_head(by_value, sample, key_head), first, part, [](unsigned, C sum) { return sum; });
                store_sums(key_sums, of_head(by_key, sample, key_head), first, part, [&](unsigned, C sum) { return C(scale) * sum; });
            }
        }
    }
}

// The third pass: the gradients by queries. For grid(blocks(tokens, 256 / sizeof(C)), blocks(width, 512 / sizeof(C)),
// blocks(batch * heads, 1)), block(16, 16).
template <class T, class M>
DAHL_DEVICE void attend_backward_queries(const AttentionInputs<T> &inputs, const M &masks, const View<T, 4> &by_query, double scale,
                                         bool is_causal) {
    using C = compute_t<T>;
    using Tile = AttentionTile<C>;
    Tile &shared = Tile::of_block();
    size_t tokens = inputs.tokens(), keys = inputs.keys(), heads = inputs.heads(), tiles = ceil_div(tokens, Tile::ROWS);
    for (size_t number = blockIdx.z; number < inputs.query.extent(0) * heads; number += gridDim.z) {
        size_t sample = number / heads, head = number % heads, of_keys = head / inputs.shared_by();
        Visibility<M> visible = {masks.of_sample(sample), tokens, keys, is_causal};
        View<const T, 2> queries = of_head(inputs.query, sample, head), gradient = of_head(inputs.gradient, sample, head);
        View<const T, 2> k = of_head(inputs.key, sample, of_keys), v = of_head(inputs.value, sample, of_keys);
        for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            size_t first = (tiles - 1 - tile) * Tile::ROWS, end = visible.seen_by_tile(first, Tile::ROWS);
            OfQuery<C> of[Tile::EACH_ROW];
#pragma unroll
            for (unsigned i = 0; i < Tile::EACH_ROW; i++) of[i] = OfQuery<C>::at(inputs, sample, head, first + threadIdx.y + SIDE * i);
            for (size_t part = size_t(blockIdx.y) * Tile::SUMS; part < queries.extent(1); part += size_t(gridDim.y) * Tile::SUMS) {
                AttentionSums<C> sums;
                clear<C>(sums);
#pragma unroll 1
                for (size_t from = 0; from < end; from += Tile::COLS) {
                    AttentionProducts<C> powers, slopes;
                    multiply(shared, queries, first, k, from, false, powers);
                    multiply(shared, gradient, first, v, from, false, slopes);
#pragma unroll
                    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
#pragma unroll
                        for (unsigned j = 0; j < Tile::EACH_COL; j++) {
                            bool is_seen = visible.sees(first + threadIdx.y + SIDE * i, from + threadIdx.x + SIDE * j);
                            C power = exp(C(scale) * powers[i][j] - of[i].shift);
                            slopes[i][j] = is_seen ? power * (slopes[i][j] - of[i].along) : C(0);
                        }
                    }
                    accumulate(shared, slopes, k, from, part, sums,
                               [&](unsigned row, unsigned place) { return visible.sees(first + row, from + place); });
                }
                store_sums(sums, of_head(by_query, sample, head), first, part, [&](unsigned, C sum) { return C(scale) * sum; });
            }
        }
    }
}

} // namespace dahl
