// Attention in tiles: the softmax of the products of queries and keys, times values. `attention_backward.cuh` has the
// gradients, which share the tiles.
//
// The matrix of scores is never in memory (Dao, Fu, Ermon, Rudra and Re 2022, FlashAttention: Fast and Memory-Efficient
// Exact Attention with IO-Awareness). A block has a tile of `ROWS` rows of one factor, and goes over the other in tiles of
// `COLS`. Three steps are shared by all passes:
//
//     multiply:    products of the rows of two tiles, such as scores, in the registers of the block
//     accumulate:  sums += weights x tile, where the weights were computed from products; through shared memory. A query and
//                  a key that it does not see add nothing to any sum, whatever they hold
//     visibility:  which keys a query sees
//
// The 256 threads are a square of 16 x 16. Thread (x, y) has the products of rows `y + 16 i` with rows `x + 16 j` of the
// other tile, and of the sums the same rows, columns `x + 16 j`. So a row of products is in the registers of 16
// neighbouring threads, half a warp, which find its maximum and sum by four shuffles. Both steps are matrix products with
// register blocking: 4 x 2 products for 6 numbers from shared memory, 4 x 8 sums for 12.
//
// `multiply` takes the vectors' elements `CHUNK` at a time, so that vectors can have any width. Sums have at most `SUMS`
// columns: for wider values, further blocks (`blockIdx.y`) compute the same weights again for the next columns.
//
// Numbers in shared memory are in the compute type; doubles have tiles of half the size. Everything is added in an order
// that the shapes decide, each element by one thread: there are no atomics, and the bits are the same in each run.
#pragma once

#include "lanes.cuh"
#include "product.cuh"

namespace dahl {

constexpr unsigned SIDE = 16;

template <class C> struct AttentionTile {
    static constexpr unsigned EACH_ROW = 16 / sizeof(C), EACH_COL = 2, EACH_SUM = 32 / sizeof(C);
    // 64 x 32 with 128 columns of sums and chunks of 64 for floats, 32 x 32 with 64 and 32 for doubles.
    static constexpr unsigned ROWS = SIDE * EACH_ROW, COLS = SIDE * EACH_COL, SUMS = SIDE * EACH_SUM, CHUNK = 256 / sizeof(C);

    // One column is padding: neighbouring rows of a column are in neighbouring banks.
    C rows[ROWS][CHUNK + 1];
    union {
        C cols[COLS][CHUNK + 1];
        C factors[COLS][SUMS];
    };
    C weights[ROWS][COLS + 1];

    // The tile of this block, in shared memory.
    static DAHL_DEVICE AttentionTile &of_block() {
        __shared__ AttentionTile tile;
        return tile;
    }
};

// Products, and sums, of a thread.
template <class C> using AttentionProducts = C[AttentionTile<C>::EACH_ROW][AttentionTile<C>::EACH_COL];
template <class C> using AttentionSums = C[AttentionTile<C>::EACH_ROW][AttentionTile<C>::EACH_SUM];

// The vectors of one head: `[tokens, width]`.
template <class T> DAHL_DEVICE View<T, 2> of_head(const View<T, 4> &all, size_t sample, size_t head) {
    check_bounds(0, sample, all.extents[0]);
    check_bounds(1, head, all.extents[1]);
    return {all.data + int64_t(sample) * all.strides[0] + int64_t(head) * all.strides[1],
            {all.extents[2], all.extents[3]},
            {all.strides[2], all.strides[3]}};
}

// Copies columns `col ..` of the rows `row ..` of a matrix into shared memory, with zeros outside of it. 16 neighbouring
// threads copy neighbouring elements of a row. Returns whether those of this thread are finite.
template <class T, class C, unsigned ROWS, unsigned PITCH>
DAHL_DEVICE bool load_tile(const View<const T, 2> &from, size_t row, size_t col, unsigned cols, C (&to)[ROWS][PITCH]) {
    bool are_finite = true;
#pragma unroll 1
    for (unsigned r = threadIdx.y; r < ROWS; r += SIDE) {
        bool is_row = row + r < from.extent(0);
#pragma unroll 4
        for (unsigned c = threadIdx.x; c < cols; c += SIDE) {
            C element = is_row && col + c < from.extent(1) ? widen(from.at(row + r, col + c)) : C(0);
            to[r][c] = element;
            are_finite &= is_finite(element);
        }
    }
    return are_finite;
}

// `products[i][j] = row y + 16 i of the tile of `left` that begins at `row`, times row x + 16 j of that of `right` at `col`.
// If `is_kept`, the tile of `left` is in `shared` already, which is possible if it has no more columns than a chunk.
template <class T, class C>
DAHL_DEVICE void multiply(AttentionTile<C> &shared, const View<const T, 2> &left, size_t row, const View<const T, 2> &right, size_t col,
                          bool is_kept, AttentionProducts<C> &products) {
    using Tile = AttentionTile<C>;
    unsigned x = threadIdx.x, y = threadIdx.y;
#pragma unroll
    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
#pragma unroll
        for (unsigned j = 0; j < Tile::EACH_COL; j++) products[i][j] = 0;
    }
    size_t width = left.extent(1);
    for (size_t chunk = 0; chunk < width; chunk += Tile::CHUNK) {
        __syncthreads(); // before what others may still read is overwritten
        if (!is_kept) load_tile(left, row, chunk, Tile::CHUNK, shared.rows);
        load_tile(right, col, chunk, Tile::CHUNK, shared.cols);
        __syncthreads();
        unsigned count = width - chunk < Tile::CHUNK ? unsigned(width - chunk) : Tile::CHUNK;
#pragma unroll 4
        for (unsigned k = 0; k < count; k++) {
            C of_cols[Tile::EACH_COL];
#pragma unroll
            for (unsigned j = 0; j < Tile::EACH_COL; j++) of_cols[j] = shared.cols[x + SIDE * j][k];
#pragma unroll
            for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
                C of_row = shared.rows[y + SIDE * i][k];
#pragma unroll
                for (unsigned j = 0; j < Tile::EACH_COL; j++) products[i][j] = multiply_add(of_row, of_cols[j], products[i][j]);
            }
        }
    }
}

// `sums[i][j] += weights[row y + 16 i][k] * factors[k][x + 16 j]`, both in shared memory, for the rows of which `takes` is true.
template <class C, class Takes>
DAHL_DEVICE void add_weighted(const AttentionTile<C> &shared, unsigned k, unsigned cols, AttentionSums<C> &sums, Takes takes) {
    using Tile = AttentionTile<C>;
    unsigned x = threadIdx.x, y = threadIdx.y;
    C of_rows[Tile::EACH_ROW];
    bool is_taken[Tile::EACH_ROW];
#pragma unroll
    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
        of_rows[i] = shared.weights[y + SIDE * i][k];
        is_taken[i] = takes(y + SIDE * i);
    }
#pragma unroll
    for (unsigned j = 0; j < Tile::EACH_SUM; j++) {
        if (SIDE * j >= cols) break;
        C factor = x + SIDE * j < cols ? shared.factors[k][x + SIDE * j] : C(0);
#pragma unroll
        for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
            if (is_taken[i]) sums[i][j] = multiply_add(of_rows[i], factor, sums[i][j]);
        }
    }
}

// `sums[i][j] += sum over k of weights[row y + 16 i][k] * factors[from + k][first + x + 16 j]`, over a tile's columns `k`.
//
// The weight of a hidden pair is 0, and 0 times an infinity or NaN is NaN. Where a tile has one, the products are added of which
// `sees(row, k)` is true; the bits of other sums are the same.
template <class T, class C, class Sees>
DAHL_DEVICE void accumulate(AttentionTile<C> &shared, const AttentionProducts<C> &weights, const View<const T, 2> &factors, size_t from,
                            size_t first, AttentionSums<C> &sums, Sees sees) {
    using Tile = AttentionTile<C>;
    unsigned x = threadIdx.x, y = threadIdx.y;
    size_t left = factors.extent(1) > first ? factors.extent(1) - first : 0;
    unsigned cols = left < Tile::SUMS ? unsigned(left) : Tile::SUMS;
    __syncthreads(); // before what others may still read is overwritten
#pragma unroll
    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
#pragma unroll
        for (unsigned j = 0; j < Tile::EACH_COL; j++) shared.weights[y + SIDE * i][x + SIDE * j] = weights[i][j];
    }
    bool are_finite = load_tile(factors, from, first, cols, shared.factors);
    if (__syncthreads_or(!are_finite)) {
#pragma unroll 1
        for (unsigned k = 0; k < Tile::COLS; k++) add_weighted(shared, k, cols, sums, [&](unsigned row) { return sees(row, k); });
    } else {
#pragma unroll 4
        for (unsigned k = 0; k < Tile::COLS; k++) add_weighted(shared, k, cols, sums, [](unsigned) { return true; });
    }
}

// Stores the sums times a factor of each row.
template <class T, class C, class OfRow>
DAHL_DEVICE void store_sums(const AttentionSums<C> &sums, const View<T, 2> &out, size_t row, size_t first, OfRow of_row) {
    using Tile = AttentionTile<C>;
#pragma unroll
    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
        size_t at_row = row + threadIdx.y + SIDE * i;
        if (at_row >= out.extent(0)) continue;
#pragma unroll
        for (unsigned j = 0; j < Tile::EACH_SUM; j++) {
            size_t col = first + threadIdx.x + SIDE * j;
            if (col < out.extent(1)) out.at(at_row, col) = narrow<T>(of_row(i, sums[i][j]));
        }
    }
}

template <class C> DAHL_DEVICE void clear(AttentionSums<C> &sums) {
#pragma unroll
    for (unsigned i = 0; i < AttentionTile<C>::EACH_ROW; i++) {
#pragma unroll
        for (unsigned j = 0; j < AttentionTile<C>::EACH_SUM; j++) sums[i][j] = 0;
    }
}

// The result of `merge` over the 16 threads that have a row; they all get it, with the same bits.
template <class C, class Merge> DAHL_DEVICE C of_row(C value, Merge merge) {
#pragma unroll
    for (unsigned distance = SIDE / 2; distance > 0; distance /= 2) {
        value = merge(value, shuffled(value, [=](uint32_t word) { return __shfl_xor_sync(~0u, word, int(distance)); }));
    }
    return value;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which keys a query sees.

struct NoMask {
    DAHL_DEVICE NoMask of_sample(size_t) const { return *this; }
    DAHL_DEVICE bool sees(size_t, size_t) const { return true; }
};

// The mask of a sample, or of all.
struct Mask {
    View<const uint8_t, 3> masks;
    size_t sample;

    explicit DAHL_DEVICE Mask(const View<const uint8_t, 3> &masks) : masks(masks), sample(0) {}
    DAHL_DEVICE Mask of_sample(size_t index) const {
        Mask mask = *this;
        mask.sample = masks.extent(0) == 1 ? 0 : index;
        return mask;
    }
    DAHL_DEVICE bool sees(size_t query, size_t key) const { return masks.at(sample, query, key) != 0; }
};

template <class M> struct Visibility {
    M mask;
    size_t tokens, keys;
    bool is_causal;

    // How many keys a query sees without the mask, from the first on: the last query sees all.
    DAHL_DEVICE size_t seen(size_t query) const {
        if (!is_causal) return keys;
        size_t end = query + 1 + keys;
        return end > tokens ? (end - tokens < keys ? end - tokens : keys) : 0;
    }
    DAHL_DEVICE bool sees(size_t query, size_t key) const { return query < tokens && key < seen(query) && mask.sees(query, key); }
    // The keys that any of the queries of a tile can see.
    DAHL_DEVICE size_t seen_by_tile(size_t first, size_t count) const {
        size_t end = first + count < tokens ? first + count : tokens;
        return seen(end - 1);
    }
};

// What is subtracted from scores of which this is the largest, or the logarithm of the sum of exponentials: nothing if a
// query sees no key, so that all exponentials are 0.
template <class C> DAHL_DEVICE C finite_shift(C largest) { return largest == -Limits<C>::infinity() ? C(0) : largest; }

// ---------------------------------------------------------------------------------------------------------------------
// The forward pass: grid(blocks(tokens, 256 / sizeof(C)), blocks(value_width, 512 / sizeof(C)), blocks(batch * heads, 1)),
// block(16, 16).
//
// A block has a tile of queries of one head, and goes over the keys that they see. For each query it has the largest score
// so far and the sum of exponentials relative to that; where a tile has a larger one, both sums are multiplied by the
// exponential of the difference (Milakov and Gimelshein 2018, Online normalizer calculation for softmax). Queries are read
// once (if no wider than a chunk; else from the cache), keys and values once by each tile of queries. Later tiles of a
// causal head see more keys and come first, so that short blocks fill the gaps at the end.
template <class T, class M>
DAHL_DEVICE void attend(const View<const T, 4> &query, const View<const T, 4> &key, const View<const T, 4> &value, const M &masks,
                        const View<T, 4> &out, const View<compute_t<T>, 3> &log_sum_exp, double scale, bool is_causal) {
    using C = compute_t<T>;
    using Tile = AttentionTile<C>;
    Tile &shared = Tile::of_block();
    size_t heads = query.extent(1), tokens = query.extent(2), keys = key.extent(2);
    size_t tiles = ceil_div(tokens, Tile::ROWS), width = value.extent(3), parts = width > 0 ? ceil_div(width, Tile::SUMS) : 1;
    for (size_t number = blockIdx.z; number < query.extent(0) * heads; number += gridDim.z) {
        size_t sample = number / heads, head = number % heads, of_keys = head / (heads / key.extent(1));
        Visibility<M> visible = {masks.of_sample(sample), tokens, keys, is_causal};
        View<const T, 2> queries = of_head(query, sample, head), k = of_head(key, sample, of_keys), v = of_head(value, sample, of_keys);
        for (size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
            size_t first = (tiles - 1 - tile) * Tile::ROWS, end = visible.seen_by_tile(first, Tile::ROWS);
            for (size_t part = blockIdx.y; part < parts; part += gridDim.y) {
                AttentionSums<C> sums;
                clear<C>(sums);
                C largest[Tile::EACH_ROW], totals[Tile::EACH_ROW];
#pragma unroll
                for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
                    largest[i] = -Limits<C>::infinity();
                    totals[i] = 0;
                }
#pragma unroll 1
                for (size_t from = 0; from < end; from += Tile::COLS) {
                    AttentionProducts<C> scores;
                    multiply(shared, queries, first, k, from, from > 0 && queries.extent(1) <= Tile::CHUNK, scores);
#pragma unroll
                    for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
                        C most = -Limits<C>::infinity();
#pragma unroll
                        for (unsigned j = 0; j < Tile::EACH_COL; j++) {
                            bool is_seen = visible.sees(first + threadIdx.y + SIDE * i, from + threadIdx.x + SIDE * j);
                            scores[i][j] = is_seen ? C(scale) * scores[i][j] : -Limits<C>::infinity();
                            most = maximum(most, scores[i][j]);
                        }
                        C before = largest[i];
                        largest[i] = maximum(before, of_row(most, [](C a, C b) { return maximum(a, b); }));
                        C shift = finite_shift(largest[i]), total = 0;
#pragma unroll
                        for (unsigned j = 0; j < Tile::EACH_COL; j++) {
                            scores[i][j] = exp(scores[i][j] - shift);
                            total += scores[i][j];
                        }
                        C kept = exp(before - shift);
                        totals[i] = totals[i] * kept + of_row(total, [](C a, C b) { return a + b; });
#pragma unroll
                        for (unsigned j = 0; j < Tile::EACH_SUM; j++) sums[i][j] *= kept;
                    }
                    accumulate(shared, scores, v, from, part * Tile::SUMS, sums,
                               [&](unsigned row, unsigned k) { return visible.sees(first + row, from + k); });
                }
                store_sums(sums, of_head(out, sample, head), first, part * Tile::SUMS,
                           [&](unsigned i, C sum) { return totals[i] != C(0) ? sum / totals[i] : sum; });
                if (part > 0 || threadIdx.x > 0) continue;
#pragma unroll
                for (unsigned i = 0; i < Tile::EACH_ROW; i++) {
                    size_t token = first + threadIdx.y + SIDE * i;
                    if (token < tokens) log_sum_exp.at(sample, head, token) = largest[i] + log(totals[i]);
                }
            }
        }
    }
}

} // namespace dahl
