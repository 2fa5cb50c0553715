// A fake `libcublas.so.13`: the products of matrices that dahl asks it for, computed from what it is told, in the stream
// of the fake driver. What it is told wrongly is refused as cuBLAS refuses it, or shows in the numbers.
#include <stdio.h>
#include <string.h>

#include <mutex>
#include <string>

#include "../driver/element.h"
#include "../driver/library.h"

// `cublasStatus_t`, `cublasOperation_t`, `cudaDataType_t`, `cublasComputeType_t`.
enum { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
enum { N = 0, T = 1, C = 2 };
enum { R_32F = 0, R_64F = 1, R_16F = 2, R_16BF = 14 };
enum { COMPUTE_32F = 68, COMPUTE_64F = 70, COMPUTE_32F_FAST_TF32 = 77 };

API cuCtxSynchronize();
API cuCtxGetCurrent(void **context);

namespace {
struct Handle {
    void *context;
    CUstream stream = nullptr;
    uint64_t workspace = 0;
    size_t workspace_bytes = 0;
    int math = 0, atomics = 0;
};

struct Matrix {
    uint64_t address;
    Element element;
    int64_t leading;
};

std::mutex mutex;
std::string products;
} // namespace

#define BLAS extern "C" __attribute__((visibility("default"))) int

static Element element_of(int type) {
    switch (type) {
    case R_32F: return Element::F32;
    case R_64F: return Element::F64;
    case R_16F: return Element::F16;
    case R_16BF: return Element::BF16;
    default: return Element::None;
    }
}

static uint64_t place(const Matrix &of, int64_t row, int64_t col) { return of.address + uint64_t(row + col * of.leading) * bytes_of(of.element); }
static double load(const Matrix &of, int64_t row, int64_t col) { return load(of.element, place(of, row, col)); }

// The status of a call that the settings let fail, or that has no context.
static int failure() {
    int error = fake_cuda_library_call();
    return error == CUDA_ERROR_INVALID_CONTEXT || error == CUDA_ERROR_NOT_INITIALIZED ? int(NOT_INITIALIZED) : error;
}

BLAS cublasCreate_v2(Handle **handle) {
    if (!handle) return INVALID_VALUE;
    if (int status = failure()) return status;
    void *context = nullptr;
    cuCtxGetCurrent(&context);
    *handle = new Handle{context};
    return SUCCESS;
}

BLAS cublasDestroy_v2(Handle *handle) {
    if (!handle) return NOT_INITIALIZED;
    cuCtxSynchronize();
    delete handle;
    return SUCCESS;
}

BLAS cublasGetVersion_v2(Handle *handle, int *version) {
    if (!handle) return NOT_INITIALIZED;
    *version = 130000;
    return SUCCESS;
}

// The workspace is cuBLAS's own again.
BLAS cublasSetStream_v2(Handle *handle, CUstream stream) {
    if (!handle) return NOT_INITIALIZED;
    handle->stream = stream;
    handle->workspace = handle->workspace_bytes = 0;
    return SUCCESS;
}

BLAS cublasSetWorkspace_v2(Handle *handle, void *workspace, size_t bytes) {
    if (!handle) return NOT_INITIALIZED;
    if (reinterpret_cast<uint64_t>(workspace) % 256 != 0) return INVALID_VALUE;
    handle->workspace = reinterpret_cast<uint64_t>(workspace);
    handle->workspace_bytes = bytes;
    return SUCCESS;
}

BLAS cublasSetMathMode(Handle *handle, int mode) {
    if (!handle) return NOT_INITIALIZED;
    handle->math = mode;
    return SUCCESS;
}

BLAS cublasSetAtomicsMode(Handle *handle, int mode) {
    if (!handle) return NOT_INITIALIZED;
    handle->atomics = mode;
    return SUCCESS;
}

extern "C" __attribute__((visibility("default"))) const char *cublasGetStatusString(int status) {
    switch (status) {
    case SUCCESS: return "the operation completed successfully";
    case NOT_INITIALIZED: return "the library was not initialized";
    case INVALID_VALUE: return "an unsupported value or parameter was passed to the function";
    case EXECUTION_FAILED: return "the function failed to launch on the GPU";
    case NOT_SUPPORTED: return "the functionality requested is not supported";
    default: return "unknown status";
    }
}

// Which types go together, of those that this fake computes.
static bool has_types(int compute, int a, int c) {
    switch (compute) {
    case COMPUTE_64F: return a == R_64F && c == R_64F;
    case COMPUTE_32F_FAST_TF32: return a == R_32F && c == R_32F;
    case COMPUTE_32F: return (a == R_32F || a == R_16F || a == R_16BF) && (c == a || c == R_32F);
    default: return false;
    }
}

static LibraryAccess access(const Matrix &matrix, int64_t rows, int64_t cols, bool writes, const char *what) {
    size_t bytes = bytes_of(matrix.element);
    return {matrix.address, uint64_t(rows) * bytes, uint64_t(cols), uint64_t(matrix.leading) * bytes, writes, what};
}

// How many products, and the elements from one matrix to the next.
struct Batch {
    int64_t count, a, b, c;
};

static Matrix of_batch(const Matrix &first, int64_t distance, int64_t index) {
    return {first.address + uint64_t(index * distance) * bytes_of(first.element), first.element, first.leading};
}

static int gemm(Handle *handle, const char *name, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha_at, uint64_t a_at, int a_type, int64_t lda,
                uint64_t b_at, int b_type, int64_t ldb, const void *beta_at, uint64_t c_at, int c_type, int64_t ldc, const Batch &batch, int compute) {
    if (!handle) return NOT_INITIALIZED;
    if (int status = failure()) return status;
    void *context = nullptr;
    cuCtxGetCurrent(&context);
    if (context != handle->context) return EXECUTION_FAILED;
    if (op_a < N || op_a > C || op_b < N || op_b > C || m < 0 || n < 0 || k < 0 || batch.count < 0 || !alpha_at || !beta_at) return INVALID_VALUE;
    // Results that overlap are of no meaning.
    if (batch.count > 1 && batch.c < m + (n - 1) * ldc) return INVALID_VALUE;
    auto at_least = [](int64_t leading, int64_t rows) { return leading >= (rows > 1 ? rows : 1); };
    if (!at_least(lda, op_a == N ? m : k) || !at_least(ldb, op_b == N ? k : n) || !at_least(ldc, m)) return INVALID_VALUE;
    if (element_of(a_type) == Element::None || a_type != b_type || !has_types(compute, a_type, c_type)) return NOT_SUPPORTED;
    auto factor = [&](const void *at) { return compute == COMPUTE_64F ? *static_cast<const double *>(at) : double(*static_cast<const float *>(at)); };
    double alpha = factor(alpha_at), beta = factor(beta_at);
    Matrix a{a_at, element_of(a_type), lda}, b{b_at, element_of(b_type), ldb}, c{c_at, element_of(c_type), ldc};

    std::string times = batch.count == 1 ? "" : " times " + std::to_string(batch.count);
    char line[256];
    snprintf(line, sizeof line, "%c%c %ldx%ldx%ld%s, leading %ld %ld %ld, %s to %s in %d, beta %g, workspace %s, math %d, atomics %d\n", "NTC"[op_a], "NTC"[op_b],
             long(m), long(n), long(k), times.c_str(), long(lda), long(ldb), long(ldc), name_of(a.element), name_of(c.element), compute, beta,
             handle->workspace_bytes ? "given" : "own", handle->math, handle->atomics);
    {
        std::lock_guard<std::mutex> lock(mutex);
        products += line;
    }
    if (m == 0 || n == 0 || batch.count == 0) return SUCCESS;

    LibraryWork work{name, {}, {}};
    for (int64_t i = 0; i < batch.count; i++) {
        work.accesses.push_back(access(of_batch(a, batch.a, i), op_a == N ? m : k, op_a == N ? k : m, false, "parameter a"));
        work.accesses.push_back(access(of_batch(b, batch.b, i), op_b == N ? k : n, op_b == N ? n : k, false, "parameter b"));
        if (beta != 0) work.accesses.push_back(access(of_batch(c, batch.c, i), m, n, false, "parameter c"));
        work.accesses.push_back(access(of_batch(c, batch.c, i), m, n, true, "the result"));
    }
    uint64_t workspace = handle->workspace;
    if (workspace) work.accesses.push_back({workspace, handle->workspace_bytes, 1, handle->workspace_bytes, true, "the workspace"});
    work.run = [=] {
        auto wide = [&](double value) { return compute == COMPUTE_32F_FAST_TF32 ? without_tail(value) : value; };
        for (int64_t index = 0; index < batch.count; index++) {
            Matrix left = of_batch(a, batch.a, index), right = of_batch(b, batch.b, index), result = of_batch(c, batch.c, index);
            for (int64_t col = 0; col < n; col++) {
                for (int64_t row = 0; row < m; row++) {
                    double sum = 0;
                    for (int64_t i = 0; i < k; i++) {
                        double x = wide(op_a == N ? load(left, row, i) : load(left, i, row)), y = wide(op_b == N ? load(right, i, col) : load(right, col, i));
                        // Of f32 and narrower the product is exact in f64, and the sum is rounded to f32 each time.
                        sum = compute == COMPUTE_64F ? sum + x * y : double(float(sum + x * y));
                    }
                    double value = alpha * sum;
                    if (beta != 0) value += beta * load(result, row, col);
                    store(result.element, place(result, row, col), value);
                }
            }
        }
        // What is there of other work is gone.
        if (workspace) memset(reinterpret_cast<void *>(workspace), 0xA5, 256);
    };
    int error = fake_cuda_library_work(handle->stream, &work);
    return error ? int(EXECUTION_FAILED) : int(SUCCESS);
}

BLAS cublasGemmEx_64(Handle *handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha, uint64_t a, int a_type, int64_t lda, uint64_t b,
                     int b_type, int64_t ldb, const void *beta, uint64_t c, int c_type, int64_t ldc, int compute, int) {
    Batch one{1, 0, 0, 0};
    return gemm(handle, "cublasGemmEx", op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, one, compute);
}

BLAS cublasGemmStridedBatchedEx_64(Handle *handle, int op_a, int op_b, int64_t m, int64_t n, int64_t k, const void *alpha, uint64_t a, int a_type, int64_t lda,
                                   int64_t stride_a, uint64_t b, int b_type, int64_t ldb, int64_t stride_b, const void *beta, uint64_t c, int c_type, int64_t ldc,
                                   int64_t stride_c, int64_t count, int compute, int) {
    Batch batch{count, stride_a, stride_b, stride_c};
    return gemm(handle, "cublasGemmStridedBatchedEx", op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc, batch, compute);
}

// What was asked for since the last time, a line each.
extern "C" __attribute__((visibility("default"))) const char *fake_cublas_products() {
    static std::string text;
    std::lock_guard<std::mutex> lock(mutex);
    text.swap(products);
    products.clear();
    return text.c_str();
}
