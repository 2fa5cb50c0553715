// A convolution as described by its descriptors: whether cuDNN supports it, by which algorithms, and its result.
//
// The heuristics list first what dahl must not use: transforms, algorithms that differ from run to run, TF32, large
// workspaces.
#pragma once

#include <stdint.h>

#include <vector>

#include "../driver/element.h"

// `cudnnStatus_t`.
enum {
    SUCCESS = 0,
    NOT_INITIALIZED = 1001,
    BAD_PARAM = 2000,
    NULL_POINTER = 2002,
    SIZE_INSUFFICIENT = 2006,
    SHAPE_MISMATCH = 2008,
    NOT_SUPPORTED = 3000,
    DATA_TYPE = 3003,
    EXECUTION_FAILED = 5000,
};
// `cudnnDataType_t`, `cudnnTensorFormat_t`, `cudnnConvolutionMode_t`, `cudnnMathType_t`.
enum { FLOAT = 0, DOUBLE = 1, HALF = 2, BFLOAT16 = 9 };
enum { NCHW = 0 };
enum { CONVOLUTION = 0, CROSS_CORRELATION = 1 };
enum { DEFAULT_MATH = 0, TENSOR_OP_MATH = 1, FMA_MATH = 3 };

// A `cudnnTensorDescriptor_t` or a `cudnnFilterDescriptor_t`.
struct Tensor {
    Element element = Element::None;
    int64_t extents[4] = {}, strides[4] = {};

    int64_t len() const { return extents[0] * extents[1] * extents[2] * extents[3]; }
    uint64_t place(uint64_t address, int64_t a, int64_t b, int64_t c, int64_t d) const {
        return address + uint64_t(a * strides[0] + b * strides[1] + c * strides[2] + d * strides[3]) * bytes_of(element);
    }
};

struct Convolution {
    int64_t padding[2] = {}, stride[2] = {}, dilation[2] = {};
    int mode = -1, math = DEFAULT_MATH;
    Element compute = Element::None;
};

// `cudnnConvolutionFwdAlgoPerf_t`, and those of the gradients.
struct Advice {
    int algorithm, status;
    float time;
    size_t memory;
    int determinism, math, reserved[3];
};

enum Direction { Forward, BackwardData, BackwardFilter };

struct Addresses {
    uint64_t x, w, y;
};

// The arrays by their names in cuDNN, in each direction.
struct Problem {
    Direction direction;
    Tensor x, w, y;
    Convolution by;

    // A status that tells what is wrong with it.
    int check() const;
    // The algorithms for it, those that should take the least time first.
    std::vector<Advice> algorithms() const;
    void compute(const Addresses &at, double alpha, double beta) const;
};

inline Element element_of(int type) {
    switch (type) {
    case FLOAT: return Element::F32;
    case DOUBLE: return Element::F64;
    case HALF: return Element::F16;
    case BFLOAT16: return Element::BF16;
    default: return Element::None;
    }
}

// Supported combinations of types: FLOAT_CONFIG, DOUBLE_CONFIG, TRUE_HALF_CONFIG, PSEUDO_HALF_CONFIG,
// PSEUDO_BFLOAT16_CONFIG.
inline bool has_types(Element element, Element compute) {
    return compute == element ? element != Element::BF16 : compute == Element::F32 && (element == Element::F16 || element == Element::BF16);
}

inline int Problem::check() const {
    if (x.element == Element::None || w.element == Element::None || y.element == Element::None || by.mode < 0) return BAD_PARAM;
    if (x.element != w.element || x.element != y.element) return BAD_PARAM;
    if (!has_types(x.element, by.compute)) return DATA_TYPE;
    auto positions = [&](int axis) {
        int64_t reach = (w.extents[axis + 2] - 1) * by.dilation[axis] + 1, room = x.extents[axis + 2] + 2 * by.padding[axis];
        return room < reach ? 0 : (room - reach) / by.stride[axis] + 1;
    };
    bool fits = x.extents[1] == w.extents[1] && y.extents[0] == x.extents[0] && y.extents[1] == w.extents[0] && y.extents[2] == positions(0)
                && y.extents[3] == positions(1);
    return fits ? SUCCESS : SHAPE_MISMATCH;
}

inline std::vector<Advice> Problem::algorithms() const {
    bool is_half = x.element == Element::F16 || x.element == Element::BF16, is_single = x.element == Element::F32;
    int fast = is_half ? TENSOR_OP_MATH : DEFAULT_MATH, plain = is_single ? FMA_MATH : fast;
    size_t transformed = 64 * bytes_of(x.element) * size_t(x.len() + y.len());
    // Winograd's is for filters of 3 x 3, in steps of 1.
    bool is_winograd = w.extents[2] == 3 && w.extents[3] == 3 && by.stride[0] == 1 && by.stride[1] == 1;
    size_t of_y = bytes_of(y.element) * size_t(y.len()), of_w = 4 * size_t(w.len());
    std::vector<Advice> all;
    auto add = [&](int algorithm, bool is_there, size_t memory, bool is_deterministic, int math) {
        Advice advice{algorithm, is_there ? SUCCESS : NOT_SUPPORTED, is_there ? float(all.size() + 1) : -1, is_there ? memory : 0, is_deterministic, math, {}};
        all.push_back(advice);
    };
    if (direction == Forward) {
        add(7, is_winograd, transformed, true, plain);
        add(5, true, transformed, true, plain);
        if (is_single) add(1, true, of_y, true, DEFAULT_MATH);
        add(1, true, of_y, true, plain);
        add(0, true, 0, true, plain);
        add(3, false, 0, true, plain);
    } else {
        add(0, true, 0, false, plain);
        add(direction == BackwardData ? 4 : 3, direction != BackwardData, of_w, false, plain);
        add(5, is_winograd, transformed, true, plain);
        if (is_single) add(1, true, of_w, true, DEFAULT_MATH);
        add(1, true, of_w, true, plain);
    }
    return all;
}

// A sum of products in the compute type.
inline double added(Element compute, double sum, double left, double right) {
    // For f32 and narrower types the product is exact in f64.
    double next = sum + left * right;
    if (compute == Element::F16) return dahl::widen(dahl::narrow<dahl::f16>(float(next)));
    return compute == Element::F64 ? next : double(float(next));
}

inline void Problem::compute(const Addresses &at, double alpha, double beta) const {
    bool is_tf32 = x.element == Element::F32 && by.math != FMA_MATH;
    auto taken = [&](const Tensor &of, uint64_t place) { return is_tf32 ? without_tail(load(of.element, place)) : load(of.element, place); };
    auto put = [&](const Tensor &to, uint64_t place, double sum) {
        store(to.element, place, alpha * sum + (beta == 0 ? 0 : beta * load(to.element, place)));
    };
    // The tap after the flip of filters.
    auto tap = [&](int axis, int64_t i) { return by.mode == CONVOLUTION ? w.extents[axis + 2] - 1 - i : i; };
    // Calls `use(row, col)` where position and tap lead into the image.
    auto from = [&](int64_t r, int64_t c, int64_t j, int64_t k, auto use) {
        int64_t row = r * by.stride[0] + j * by.dilation[0] - by.padding[0], col = c * by.stride[1] + k * by.dilation[1] - by.padding[1];
        if (row >= 0 && row < x.extents[2] && col >= 0 && col < x.extents[3]) use(row, col);
    };
    // All terms, in order; each belongs to one element of each array.
    std::vector<double> sums(direction == Forward ? y.len() : direction == BackwardData ? x.len() : w.len(), 0);
    auto index = [](const Tensor &of, int64_t a, int64_t b, int64_t c, int64_t d) {
        return size_t(((a * of.extents[1] + b) * of.extents[2] + c) * of.extents[3] + d);
    };
    auto each = [](const Tensor &of, auto call) {
        for (int64_t a = 0; a < of.extents[0]; a++)
            for (int64_t b = 0; b < of.extents[1]; b++)
                for (int64_t c = 0; c < of.extents[2]; c++)
                    for (int64_t d = 0; d < of.extents[3]; d++) call(a, b, c, d);
    };
    each(y, [&](int64_t n, int64_t f, int64_t r, int64_t c) {
        for (int64_t i = 0; i < w.extents[1]; i++)
            for (int64_t j = 0; j < w.extents[2]; j++)
                for (int64_t k = 0; k < w.extents[3]; k++)
                    from(r, c, j, k, [&](int64_t row, int64_t col) {
                        int64_t down = tap(0, j), right = tap(1, k);
                        uint64_t of_x = x.place(at.x, n, i, row, col), of_w = w.place(at.w, f, i, down, right), of_y = y.place(at.y, n, f, r, c);
                        auto add = [&](size_t to, const Tensor &left, uint64_t left_at, const Tensor &right_of, uint64_t right_at) {
                            sums[to] = added(by.compute, sums[to], taken(left, left_at), taken(right_of, right_at));
                        };
                        if (direction == Forward) add(index(y, n, f, r, c), w, of_w, x, of_x);
                        if (direction == BackwardData) add(index(x, n, i, row, col), w, of_w, y, of_y);
                        if (direction == BackwardFilter) add(index(w, f, i, down, right), y, of_y, x, of_x);
                    });
    });
    const Tensor &out = direction == Forward ? y : direction == BackwardData ? x : w;
    uint64_t out_at = direction == Forward ? at.y : direction == BackwardData ? at.x : at.w;
    each(out, [&](int64_t a, int64_t b, int64_t c, int64_t d) { put(out, out.place(out_at, a, b, c, d), sums[index(out, a, b, c, d)]); });
}
