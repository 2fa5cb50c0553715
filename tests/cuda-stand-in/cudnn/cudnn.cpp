// A stand-in for libcudnn.so.9: the convolutions that dahl asks it for, computed from what its descriptors say, in the stream
// of the stand-in for the driver. What it is told wrongly is refused as cuDNN refuses it, or shows in the numbers.
//
// Its heuristics name first what dahl must not take: transforms, algorithms that differ from run to run, TF32, large workspaces.
#include <stdio.h>

#include <mutex>
#include <string>

#include "../driver/element.h"
#include "../driver/library.h"

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

API cuCtxSynchronize();
API cuCtxGetCurrent(void **context);

namespace {
struct Handle {
    void *context;
    CUstream stream = nullptr;
};

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

// The arrays in the order of their names, whichever is computed.
struct Problem {
    Direction direction;
    Tensor x, w, y;
    Convolution by;
};

struct Addresses {
    uint64_t x, w, y;
};

std::mutex mutex;
std::string convolutions;
} // namespace

#define DNN extern "C" __attribute__((visibility("default"))) int

static Element element_of(int type) {
    switch (type) {
    case FLOAT: return Element::F32;
    case DOUBLE: return Element::F64;
    case HALF: return Element::F16;
    case BFLOAT16: return Element::BF16;
    default: return Element::None;
    }
}

// The status of a call that the settings let fail, or that has no context.
static int failure() {
    int error = cuda_stand_in_library_call();
    return error == CUDA_ERROR_INVALID_CONTEXT || error == CUDA_ERROR_NOT_INITIALIZED ? int(NOT_INITIALIZED) : error;
}

template <class T> static int create(T **descriptor) {
    if (!descriptor) return NULL_POINTER;
    *descriptor = new T;
    return SUCCESS;
}

template <class T> static int destroy(T *descriptor) {
    delete descriptor;
    return SUCCESS;
}

DNN cudnnCreate(Handle **handle) {
    if (!handle) return NULL_POINTER;
    if (int status = failure()) return status;
    void *context = nullptr;
    cuCtxGetCurrent(&context);
    *handle = new Handle{context};
    return SUCCESS;
}

DNN cudnnDestroy(Handle *handle) {
    if (!handle) return NOT_INITIALIZED;
    cuCtxSynchronize();
    return destroy(handle);
}

DNN cudnnSetStream(Handle *handle, CUstream stream) {
    if (!handle) return NOT_INITIALIZED;
    handle->stream = stream;
    return SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char *cudnnGetErrorString(int status) {
    switch (status) {
    case SUCCESS: return "CUDNN_STATUS_SUCCESS";
    case NOT_INITIALIZED: return "CUDNN_STATUS_NOT_INITIALIZED";
    case BAD_PARAM: return "CUDNN_STATUS_BAD_PARAM";
    case NULL_POINTER: return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case SIZE_INSUFFICIENT: return "CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT";
    case SHAPE_MISMATCH: return "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH";
    case NOT_SUPPORTED: return "CUDNN_STATUS_NOT_SUPPORTED";
    case DATA_TYPE: return "CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE";
    case EXECUTION_FAILED: return "CUDNN_STATUS_EXECUTION_FAILED";
    default: return "CUDNN_UNKNOWN_STATUS";
    }
}

DNN cudnnCreateTensorDescriptor(Tensor **tensor) { return create(tensor); }
DNN cudnnDestroyTensorDescriptor(Tensor *tensor) { return destroy(tensor); }
DNN cudnnCreateFilterDescriptor(Tensor **filter) { return create(filter); }
DNN cudnnDestroyFilterDescriptor(Tensor *filter) { return destroy(filter); }
DNN cudnnCreateConvolutionDescriptor(Convolution **by) { return create(by); }
DNN cudnnDestroyConvolutionDescriptor(Convolution *by) { return destroy(by); }

DNN cudnnSetTensor4dDescriptorEx(Tensor *tensor, int type, int n, int c, int h, int w, int by_n, int by_c, int by_h, int by_w) {
    if (!tensor) return NULL_POINTER;
    Tensor set{element_of(type), {n, c, h, w}, {by_n, by_c, by_h, by_w}};
    if (set.element == Element::None) return BAD_PARAM;
    int64_t last = 0;
    for (int axis = 0; axis < 4; axis++) {
        if (set.extents[axis] < 1 || set.strides[axis] < 1) return BAD_PARAM;
        last += (set.extents[axis] - 1) * set.strides[axis];
    }
    if (last >= INT32_MAX) return NOT_SUPPORTED;
    *tensor = set;
    return SUCCESS;
}

DNN cudnnSetFilter4dDescriptor(Tensor *filter, int type, int format, int k, int c, int h, int w) {
    if (!filter) return NULL_POINTER;
    if (format != NCHW) return NOT_SUPPORTED;
    if (k < 1 || c < 1 || h < 1 || w < 1 || element_of(type) == Element::None) return BAD_PARAM;
    *filter = {element_of(type), {k, c, h, w}, {int64_t(c) * h * w, int64_t(h) * w, w, 1}};
    return SUCCESS;
}

DNN cudnnSetConvolution2dDescriptor(Convolution *by, int above, int left, int down, int right, int dilation_h, int dilation_w, int mode, int compute) {
    if (!by) return NULL_POINTER;
    if (above < 0 || left < 0 || down < 1 || right < 1 || dilation_h < 1 || dilation_w < 1) return BAD_PARAM;
    if ((mode != CONVOLUTION && mode != CROSS_CORRELATION) || element_of(compute) == Element::None) return BAD_PARAM;
    *by = {{above, left}, {down, right}, {dilation_h, dilation_w}, mode, by->math, element_of(compute)};
    return SUCCESS;
}

DNN cudnnSetConvolutionMathType(Convolution *by, int math) {
    if (!by) return NULL_POINTER;
    if (math < DEFAULT_MATH || math > FMA_MATH) return BAD_PARAM;
    by->math = math;
    return SUCCESS;
}

// Which types go together: FLOAT_CONFIG, DOUBLE_CONFIG, TRUE_HALF_CONFIG, PSEUDO_HALF_CONFIG, PSEUDO_BFLOAT16_CONFIG.
static bool has_types(Element element, Element compute) {
    return compute == element ? element != Element::BF16 : compute == Element::F32 && (element == Element::F16 || element == Element::BF16);
}

// What is wrong with a problem.
static int check(Handle *handle, const Problem &problem) {
    void *context = nullptr;
    cuCtxGetCurrent(&context);
    if (context != handle->context) return EXECUTION_FAILED;
    const auto &[direction, x, w, y, by] = problem;
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

// The algorithms for a problem, the ones that should take the least time first.
static std::vector<Advice> algorithms(const Problem &problem) {
    bool is_half = problem.x.element == Element::F16 || problem.x.element == Element::BF16, is_single = problem.x.element == Element::F32;
    int fast = is_half ? TENSOR_OP_MATH : DEFAULT_MATH, plain = is_single ? FMA_MATH : fast;
    size_t transformed = 64 * bytes_of(problem.x.element) * size_t(problem.x.len() + problem.y.len());
    // Winograd's is for filters of 3 x 3, in steps of 1.
    bool is_winograd = problem.w.extents[2] == 3 && problem.w.extents[3] == 3 && problem.by.stride[0] == 1 && problem.by.stride[1] == 1;
    size_t of_y = bytes_of(problem.y.element) * size_t(problem.y.len()), of_w = 4 * size_t(problem.w.len());
    std::vector<Advice> all;
    auto add = [&](int algorithm, bool is_there, size_t memory, bool is_deterministic, int math) {
        Advice advice{algorithm, is_there ? SUCCESS : NOT_SUPPORTED, is_there ? float(all.size() + 1) : -1, is_there ? memory : 0, is_deterministic, math, {}};
        all.push_back(advice);
    };
    if (problem.direction == Forward) {
        add(7, is_winograd, transformed, true, plain);
        add(5, true, transformed, true, plain);
        if (is_single) add(1, true, of_y, true, DEFAULT_MATH);
        add(1, true, of_y, true, plain);
        add(0, true, 0, true, plain);
        add(3, false, 0, true, plain);
    } else {
        add(0, true, 0, false, plain);
        add(problem.direction == BackwardData ? 4 : 3, problem.direction != BackwardData, of_w, false, plain);
        add(5, is_winograd, transformed, true, plain);
        if (is_single) add(1, true, of_w, true, DEFAULT_MATH);
        add(1, true, of_w, true, plain);
    }
    return all;
}

static int advise(Handle *handle, const Problem &problem, int requested, int *returned, Advice *advice) {
    if (!handle || !returned || !advice) return NULL_POINTER;
    if (int status = failure()) return status;
    if (requested < 1) return BAD_PARAM;
    if (int status = check(handle, problem)) return status;
    *returned = 0;
    for (const Advice &one : algorithms(problem)) {
        if (*returned < requested) advice[(*returned)++] = one;
    }
    return SUCCESS;
}

// What an array's elements lie on, and whether it has to have been written.
static void touch(LibraryWork &work, const Tensor &tensor, uint64_t address, bool writes, const char *what) {
    uint64_t bytes = bytes_of(tensor.element), step = uint64_t(tensor.strides[3]) * bytes;
    const int64_t *extents = tensor.extents, *strides = tensor.strides;
    bool is_contiguous = strides[3] == 1 && strides[2] == extents[3] && strides[1] == strides[2] * extents[2] && strides[0] == strides[1] * extents[1];
    if (is_contiguous) return work.accesses.push_back({address, uint64_t(tensor.len()) * bytes, 1, uint64_t(tensor.len()) * bytes, writes, what});
    for (int64_t n = 0; n < extents[0]; n++) {
        for (int64_t c = 0; c < extents[1]; c++) {
            for (int64_t h = 0; h < extents[2]; h++) work.accesses.push_back({tensor.place(address, n, c, h, 0), bytes, uint64_t(extents[3]), step, writes, what});
        }
    }
}

// A sum of products in the compute type.
static double added(Element compute, double sum, double left, double right) {
    // Of f32 and narrower the product is exact in f64.
    double next = sum + left * right;
    if (compute == Element::F16) return dahl::widen(dahl::narrow<dahl::f16>(float(next)));
    return compute == Element::F64 ? next : double(float(next));
}

static void compute(const Problem &problem, const Addresses &at, double alpha, double beta) {
    const auto &[direction, x, w, y, by] = problem;
    bool is_tf32 = x.element == Element::F32 && by.math != FMA_MATH;
    auto taken = [&](const Tensor &of, uint64_t place) { return is_tf32 ? without_tail(load(of.element, place)) : load(of.element, place); };
    auto put = [&](const Tensor &to, uint64_t place, double sum) {
        store(to.element, place, alpha * sum + (beta == 0 ? 0 : beta * load(to.element, place)));
    };
    // Of filters that are flipped, the tap that is meant.
    auto tap = [&](int axis, int64_t i) { return by.mode == CONVOLUTION ? w.extents[axis + 2] - 1 - i : i; };
    // Calls `use(row, col)` where position and tap lead into the image.
    auto from = [&](int64_t r, int64_t c, int64_t j, int64_t k, auto use) {
        int64_t row = r * by.stride[0] + j * by.dilation[0] - by.padding[0], col = c * by.stride[1] + k * by.dilation[1] - by.padding[1];
        if (row >= 0 && row < x.extents[2] && col >= 0 && col < x.extents[3]) use(row, col);
    };
    // All terms that there are, in order; each belongs to one element of each array.
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

static void note(const Problem &problem, int algorithm, size_t workspace_bytes, double beta) {
    const auto &[direction, x, w, y, by] = problem;
    auto extents = [](const Tensor &of) {
        std::string text = std::to_string(of.extents[0]);
        for (int axis = 1; axis < 4; axis++) text += "x" + std::to_string(of.extents[axis]);
        return text;
    };
    const char *names[] = {"forward", "backward data", "backward filter"};
    char line[256];
    snprintf(line, sizeof line, "%s %s by %s to %s, stride %ldx%ld, padding %ldx%ld, %s in %s, algorithm %d, math %d, workspace %zu, beta %g\n",
             names[direction], extents(x).c_str(), extents(w).c_str(), extents(y).c_str(), long(by.stride[0]), long(by.stride[1]), long(by.padding[0]),
             long(by.padding[1]), name_of(x.element), name_of(by.compute), algorithm, by.math, workspace_bytes, beta);
    std::lock_guard<std::mutex> lock(mutex);
    convolutions += line;
}

static int convolve(Handle *handle, const Problem &problem, const Addresses &at, int algorithm, uint64_t workspace, size_t bytes, const void *alpha_at,
                    const void *beta_at) {
    if (int status = failure()) return status;
    if (int status = check(handle, problem)) return status;
    if (!at.x || !at.w || !at.y || !alpha_at || !beta_at) return NULL_POINTER;
    // The same algorithm has the same workspace, whatever its math.
    const Advice *found = nullptr;
    std::vector<Advice> all = algorithms(problem);
    for (const Advice &one : all) {
        if (one.algorithm == algorithm && one.status == SUCCESS) found = &one;
    }
    if (!found) return NOT_SUPPORTED;
    if (bytes < found->memory || (found->memory && !workspace)) return SIZE_INSUFFICIENT;
    auto factor = [&](const void *of) { return problem.by.compute == Element::F64 ? *static_cast<const double *>(of) : double(*static_cast<const float *>(of)); };
    double alpha = factor(alpha_at), beta = factor(beta_at);
    note(problem, algorithm, bytes, beta);

    LibraryWork work{"a convolution of cuDNN's", {}, {}};
    Direction direction = problem.direction;
    auto reads = [&](const Tensor &of, uint64_t address, bool is_written, const char *what) {
        if (!is_written || beta != 0) touch(work, of, address, false, what);
    };
    reads(problem.x, at.x, direction == BackwardData, "parameter x");
    reads(problem.w, at.w, direction == BackwardFilter, "parameter w");
    reads(problem.y, at.y, direction == Forward, "parameter y");
    if (direction == Forward) touch(work, problem.y, at.y, true, "the result");
    if (direction == BackwardData) touch(work, problem.x, at.x, true, "the result");
    if (direction == BackwardFilter) touch(work, problem.w, at.w, true, "the result");
    if (workspace && bytes) work.accesses.push_back({workspace, bytes, 1, bytes, true, "the workspace"});
    work.run = [=] {
        compute(problem, at, alpha, beta);
        // What is there of other work is gone.
        if (workspace && bytes) memset(reinterpret_cast<void *>(workspace), 0xA5, bytes);
    };
    int error = cuda_stand_in_library_work(handle->stream, &work);
    return error ? int(EXECUTION_FAILED) : int(SUCCESS);
}

DNN cudnnGetConvolutionForwardAlgorithm_v7(Handle *handle, const Tensor *x, const Tensor *w, const Convolution *by, const Tensor *y, int requested, int *returned,
                                           Advice *advice) {
    if (!x || !w || !by || !y) return NULL_POINTER;
    return advise(handle, {Forward, *x, *w, *y, *by}, requested, returned, advice);
}

DNN cudnnGetConvolutionBackwardDataAlgorithm_v7(Handle *handle, const Tensor *w, const Tensor *y, const Convolution *by, const Tensor *x, int requested,
                                                int *returned, Advice *advice) {
    if (!x || !w || !by || !y) return NULL_POINTER;
    return advise(handle, {BackwardData, *x, *w, *y, *by}, requested, returned, advice);
}

DNN cudnnGetConvolutionBackwardFilterAlgorithm_v7(Handle *handle, const Tensor *x, const Tensor *y, const Convolution *by, const Tensor *w, int requested,
                                                  int *returned, Advice *advice) {
    if (!x || !w || !by || !y) return NULL_POINTER;
    return advise(handle, {BackwardFilter, *x, *w, *y, *by}, requested, returned, advice);
}

DNN cudnnConvolutionForward(Handle *handle, const void *alpha, const Tensor *x, uint64_t x_at, const Tensor *w, uint64_t w_at, const Convolution *by,
                            int algorithm, uint64_t workspace, size_t bytes, const void *beta, const Tensor *y, uint64_t y_at) {
    if (!handle || !x || !w || !by || !y) return NULL_POINTER;
    return convolve(handle, {Forward, *x, *w, *y, *by}, {x_at, w_at, y_at}, algorithm, workspace, bytes, alpha, beta);
}

DNN cudnnConvolutionBackwardData(Handle *handle, const void *alpha, const Tensor *w, uint64_t w_at, const Tensor *y, uint64_t y_at, const Convolution *by,
                                 int algorithm, uint64_t workspace, size_t bytes, const void *beta, const Tensor *x, uint64_t x_at) {
    if (!handle || !x || !w || !by || !y) return NULL_POINTER;
    return convolve(handle, {BackwardData, *x, *w, *y, *by}, {x_at, w_at, y_at}, algorithm, workspace, bytes, alpha, beta);
}

DNN cudnnConvolutionBackwardFilter(Handle *handle, const void *alpha, const Tensor *x, uint64_t x_at, const Tensor *y, uint64_t y_at, const Convolution *by,
                                   int algorithm, uint64_t workspace, size_t bytes, const void *beta, const Tensor *w, uint64_t w_at) {
    if (!handle || !x || !w || !by || !y) return NULL_POINTER;
    return convolve(handle, {BackwardFilter, *x, *w, *y, *by}, {x_at, w_at, y_at}, algorithm, workspace, bytes, alpha, beta);
}

// What was asked for since the last time, a line each.
extern "C" __attribute__((visibility("default"))) const char *cudnn_stand_in_convolutions() {
    static std::string text;
    std::lock_guard<std::mutex> lock(mutex);
    text.swap(convolutions);
    convolutions.clear();
    return text.c_str();
}
