// The heads of attention: features of a token, divided among heads, and joined again.
//
//     split_heads:   query[b, h, i, j] = input[b, i, h * width + j]; key and value: the features behind those of the queries
//     join_heads:    out[b, i, h * width + j] = query[b, h, i, j], and so on: the inverse
//     merge_heads:   out[b, i, h * width + j] = input[b, h, i, j]
//     divide_heads:  out[b, h, i, j] = input[b, i, h * width + j]
//
// Each element is read and written once, by a thread of its own. Threads go along the tokens' features, so neighbouring
// ones have neighbouring elements there, and runs of `width` neighbouring elements in the arrays of heads. The time is
// that of memory; where the runs are shorter than the 32 bytes of a sector, a sector is read or written in parts.
#include "dahl.cuh"

using namespace dahl;

// The place of a feature: sample, token, head, and element of the head's vector.
struct OfHead {
    size_t sample, token, head, along;

    // Of the element with row-major index `i` of an array of tokens, `[batch, tokens, features]`.
    static DAHL_DEVICE OfHead at(size_t i, size_t tokens, size_t features, size_t width) {
        Division row = divide(i, features), sample = divide(row.quotient, tokens), head = divide(row.remainder, width);
        return {sample.quotient, sample.remainder, head.quotient, head.remainder};
    }
    template <class V> DAHL_DEVICE auto &of(const V &heads, size_t first) const { return heads.at(sample, head - first, token, along); }
};

// Calls `move(place, in_tokens, in_heads)` for each element of an array of tokens and its place among the heads.
template <class T, class U, class Move>
DAHL_DEVICE void for_each_feature(const View<T, 3> &tokens, const View<U, 4> &query, const View<U, 4> &key, const View<U, 4> &value, Move move) {
    size_t features = tokens.extent(2), width = query.extent(3), queries = query.extent(1), keys = key.extent(1);
    for (size_t i = first_index(); i < tokens.len(); i += grid_threads()) {
        OfHead place = OfHead::at(i, tokens.extent(1), features, width);
        T &feature = tokens.at(place.sample, place.token, place.head * width + place.along);
        if (place.head < queries) {
            move(feature, place.of(query, 0));
        } else if (place.head < queries + keys) {
            move(feature, place.of(key, queries));
        } else {
            move(feature, place.of(value, queries + keys));
        }
    }
}

DAHL_KERNEL(split_heads, types(T: element), grid(blocks(input.len(), 256)), block(256))
template <class T>
__global__ void split_heads(View<const T, 3> input, View<T, 4> query, View<T, 4> key, View<T, 4> value, size_t queries, size_t keys) {
    for_each_feature(input, query, key, value, [](const T &feature, T &of_head) { of_head = feature; });
}

DAHL_KERNEL(join_heads, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T>
__global__ void join_heads(View<const T, 4> query, View<const T, 4> key, View<const T, 4> value, View<T, 3> out) {
    for_each_feature(out, query, key, value, [](T &feature, const T &of_head) { feature = of_head; });
}

DAHL_KERNEL(merge_heads, types(T: element), grid(blocks(out.len(), 256)), block(256))
template <class T> __global__ void merge_heads(View<const T, 4> input, View<T, 3> out) {
    for (size_t i = first_index(); i < out.len(); i += grid_threads()) {
        OfHead place = OfHead::at(i, out.extent(1), out.extent(2), input.extent(3));
        out.at(place.sample, place.token, place.head * input.extent(3) + place.along) = place.of(input, 0);
    }
}

DAHL_KERNEL(divide_heads, types(T: element), grid(blocks(input.len(), 256)), block(256))
template <class T> __global__ void divide_heads(View<const T, 3> input, View<T, 4> out) {
    for (size_t i = first_index(); i < input.len(); i += grid_threads()) {
        OfHead place = OfHead::at(i, input.extent(1), input.extent(2), out.extent(3));
        place.of(out, 0) = input.at(place.sample, place.token, place.head * out.extent(3) + place.along);
    }
}
