#include "set.h"

#include <string.h>

#include "allocate.h"
#include "driver.h"

CUresult set_work(Work &work, CUdeviceptr to, size_t pitch, unsigned value, unsigned element_bytes, size_t width, size_t height) {
    work.type = NODE_MEMSET;
    work.label = "set of " + std::to_string(width * height * element_bytes) + " bytes";
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    if (to % element_bytes != 0) return CUDA_ERROR_INVALID_VALUE;
    uint64_t extents[] = {height};
    int64_t strides[] = {int64_t(pitch)};
    Box box = Box::of(to, width * element_bytes, 1, extents, strides);
    auto allocation = in_use(to, box.hull().end - to, "target of a set");
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    work.accesses.push_back({allocation, box, Mode::Write, ""});
    work.run = [=] {
        for (Interval row : box.each()) {
            for (uint64_t at = row.start; at < row.end; at += element_bytes) memcpy(reinterpret_cast<void *>(at), &value, element_bytes);
            allocation->initialised.add(row);
        }
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

static CUresult set(CUstream handle, CUdeviceptr to, size_t pitch, unsigned value, unsigned element_bytes, size_t width, size_t height) {
    return in_stream(Kind::Set, handle, [&](Stream &stream) {
        Work work;
        CUresult error = set_work(work, to, pitch, value, element_bytes, width, height);
        return error || !work.run ? error : submit(stream, std::move(work));
    });
}

// Those without a stream do not wait either.
#define SETS(bits, type)                                                                                                \
    API cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t n) { return set(nullptr, to, 0, value, bits / 8, n, 1); } \
    API cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t n, CUstream s) { return set(s, to, 0, value, bits / 8, n, 1); } \
    API cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height) {                  \
        return set(nullptr, to, pitch, value, bits / 8, width, height);                                                  \
    }                                                                                                                    \
    API cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, CUstream s) {    \
        return set(s, to, pitch, value, bits / 8, width, height);                                                        \
    }
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
