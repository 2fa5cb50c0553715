// A fake `libcudnn.so.9`: the convolutions that dahl asks it for, computed from what its descriptors say, in the stream
// of the fake driver. What it is told wrongly is refused as cuDNN refuses it, or shows in the numbers.
#include <stdio.h>

#include <mutex>
#include <string>

#include "../driver/library.h"
#include "problem.h"

API cuCtxSynchronize();
API cuCtxGetCurrent(void **context);

namespace {
struct Handle {
    void *context;
    CUstream stream = nullptr;
};

std::mutex mutex;
std::string convolutions;
} // namespace

#define DNN extern "C" __attribute__((visibility("default"))) int

// The status of a call that the settings let fail, or that has no context.
static int failure() {
    int error = fake_cuda_library_call();
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

// What is wrong with a problem.
static int check(Handle *handle, const Problem &problem) {
    void *context = nullptr;
    cuCtxGetCurrent(&context);
    return context == handle->context ? problem.check() : int(EXECUTION_FAILED);
}

static int advise(Handle *handle, const Problem &problem, int requested, int *returned, Advice *advice) {
    if (!handle || !returned || !advice) return NULL_POINTER;
    if (int status = failure()) return status;
    if (requested < 1) return BAD_PARAM;
    if (int status = check(handle, problem)) return status;
    *returned = 0;
    for (const Advice &one : problem.algorithms()) {
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
    std::vector<Advice> all = problem.algorithms();
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
        problem.compute(at, alpha, beta);
        // What is there of other work is gone.
        if (workspace && bytes) memset(reinterpret_cast<void *>(workspace), 0xA5, bytes);
    };
    int error = fake_cuda_library_work(handle->stream, &work);
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
extern "C" __attribute__((visibility("default"))) const char *fake_cudnn_convolutions() {
    static std::string text;
    std::lock_guard<std::mutex> lock(mutex);
    text.swap(convolutions);
    convolutions.clear();
    return text.c_str();
}
