#include "copy.h"

#include <string.h>

#include "allocate.h"
#include "driver.h"
#include "graph.h"

static Box box_of(const End &end, const Extent &extent) {
    uint64_t extents[] = {extent.height, extent.depth};
    int64_t strides[] = {int64_t(end.pitch), int64_t(end.slice)};
    return Box::of(end.address, extent.width, 2, extents, strides);
}

static uint64_t row_of(const End &end, uint64_t row, uint64_t slice) { return end.address + row * end.pitch + slice * end.slice; }

// Finds the allocation, if the memory is what it should be.
static bool resolve(End &end, const Extent &extent, const char *what) {
    Interval hull = box_of(end, extent).hull();
    auto found = driver().memory->find(end.address);
    bool is_pageable = !is_device_address(end.address) && !found;
    if (is_pageable && end.kind != End::Device && end.address) return true;
    end.allocation = in_use(end.address, hull.end - hull.start, what);
    if (!end.allocation) return false;
    if (end.kind == End::Host && end.allocation->is_device()) {
        found_error(std::string(what) + ": memory of the host is expected, not " + end.allocation->name(), CUDA_ERROR_INVALID_VALUE);
        return false;
    }
    return true;
}

static std::string side(const End &end) {
    if (!end.allocation) return "pageable memory";
    return end.allocation->is_device() ? "device " + std::to_string(end.allocation->device) : "pinned memory";
}

// What a copy leaves initialised, byte for byte.
static CUresult carry(const End &to, uint64_t to_row, const End &from, uint64_t from_row, uint64_t width, const std::string &label) {
    bool knows = from.allocation && from.allocation->is_device();
    Interval source = {from_row, from_row + width};
    if (to.allocation && to.allocation->is_device()) {
        if (!knows) {
            to.allocation->initialised.add({to_row, to_row + width});
            return CUDA_SUCCESS;
        }
        auto parts = from.allocation->initialised.within(source);
        to.allocation->initialised.remove({to_row, to_row + width});
        for (Interval part : parts) to.allocation->initialised.add({part.start - from_row + to_row, part.end - from_row + to_row});
        return CUDA_SUCCESS;
    }
    if (!knows || !driver().settings.uninitialised) return CUDA_SUCCESS;
    uint64_t missing = from.allocation->initialised.first_missing(source);
    if (missing == source.end) return CUDA_SUCCESS;
    return found(label + " reads what nothing has written: byte " + std::to_string(missing - from.allocation->start) + " of " + from.allocation->name(),
                 CUDA_ERROR_ILLEGAL_ADDRESS);
}

static CUresult copy_rows(const End &to, const End &from, const Extent &extent, const std::string &label) {
    CUresult result = CUDA_SUCCESS;
    for (uint64_t slice = 0; slice < extent.depth; slice++) {
        for (uint64_t row = 0; row < extent.height; row++) {
            uint64_t to_row = row_of(to, row, slice), from_row = row_of(from, row, slice);
            memmove(reinterpret_cast<void *>(to_row), reinterpret_cast<void *>(from_row), extent.width);
            CUresult error = carry(to, to_row, from, from_row, extent.width, label);
            if (!result) result = error;
        }
    }
    return result;
}

CUresult copy_work(Work &work, End to, End from, Extent extent) {
    work.type = NODE_MEMCPY;
    if (extent.bytes() == 0) {
        work.label = "copy of nothing";
        return CUDA_SUCCESS;
    }
    if (!resolve(from, extent, "source of a copy") || !resolve(to, extent, "target of a copy")) return CUDA_ERROR_INVALID_VALUE;
    work.label = "copy of " + std::to_string(extent.bytes()) + " bytes from " + side(from) + " to " + side(to);
    if (from.allocation) work.accesses.push_back({from.allocation, box_of(from, extent), Mode::Read, "its source"});
    if (to.allocation) work.accesses.push_back({to.allocation, box_of(to, extent), Mode::Write, "its target"});
    std::string label = work.label;
    work.run = [=] { return copy_rows(to, from, extent, label); };
    return CUDA_SUCCESS;
}

CUresult copy_work(Work &work, const CUDA_MEMCPY3D &copy) {
    auto end = [](CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch, size_t height, size_t x, size_t y, size_t z) {
        uint64_t base = type == CU_MEMORYTYPE_HOST ? reinterpret_cast<uint64_t>(host) : device;
        End::Kind kind = type == CU_MEMORYTYPE_HOST ? End::Host : type == CU_MEMORYTYPE_DEVICE ? End::Device : End::Any;
        uint64_t slice = pitch * height;
        return End(kind, base + x + y * pitch + z * slice, pitch, slice);
    };
    if (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.dstMemoryType == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
    size_t src_pitch = copy.srcPitch ? copy.srcPitch : copy.WidthInBytes, dst_pitch = copy.dstPitch ? copy.dstPitch : copy.WidthInBytes;
    if (copy.Height > 1 && (src_pitch < copy.WidthInBytes || dst_pitch < copy.WidthInBytes)) return CUDA_ERROR_INVALID_VALUE;
    End from = end(copy.srcMemoryType, copy.srcHost, copy.srcDevice, src_pitch, copy.srcHeight, copy.srcXInBytes, copy.srcY, copy.srcZ);
    End to = end(copy.dstMemoryType, copy.dstHost, copy.dstDevice, dst_pitch, copy.dstHeight, copy.dstXInBytes, copy.dstY, copy.dstZ);
    return copy_work(work, to, from, {copy.WidthInBytes, copy.Height, copy.Depth});
}

// The source of a copy from pageable memory is read before the call returns.
static void read_now(Work &work, End from, const Extent &extent, const std::function<CUresult(Work &, End)> &again) {
    auto bytes = std::make_shared<std::vector<char>>(extent.bytes());
    char *at = bytes->data();
    for (uint64_t slice = 0; slice < extent.depth; slice++) {
        for (uint64_t row = 0; row < extent.height; row++, at += extent.width) {
            memcpy(at, reinterpret_cast<void *>(row_of(from, row, slice)), extent.width);
        }
    }
    from.address = reinterpret_cast<uint64_t>(bytes->data());
    from.pitch = extent.width;
    from.slice = extent.width * extent.height;
    Work copied;
    if (again(copied, from)) return;
    work.run = [bytes, run = copied.run] { return run(); };
}

// What the host would find in pinned memory before the copy there has run: nothing of use.
static void spoil(const End &to, const Extent &extent) {
    Access access = {to.allocation, box_of(to, extent), Mode::Write, ""};
    for (const Past &past : to.allocation->past) {
        if (!past.operation->done && past.access.box.overlaps(access.box)) return;
    }
    for (Interval interval : access.box.each()) memset(reinterpret_cast<void *>(interval.start), 0xFF, interval.end - interval.start);
}

enum class When { Async, Sync };

static CUresult copy(CUstream handle, End to, End from, Extent extent, When when) {
    return in_stream(Kind::Copy, handle, [&](Stream &stream) {
        if (when == When::Sync) {
            if (CUresult refused = refuse_unsafe()) return refused;
        }
        Work work;
        if (CUresult error = copy_work(work, to, from, extent)) return error;
        if (extent.bytes() == 0) return CUDA_SUCCESS;
        from.allocation = driver().memory->find(from.address);
        to.allocation = driver().memory->find(to.address);
        if (!from.allocation && !stream.capture) {
            read_now(work, from, extent, [&](Work &again, End now) { return copy_work(again, to, now, extent); });
        }
        bool to_pinned = to.allocation && !to.allocation->is_device() && from.allocation && from.allocation->is_device();
        work.is_download = to_pinned;
        if (to_pinned && !stream.capture && driver().settings.seed > 0) spoil(to, extent);
        // Between two devices' memories even the synchronous copy does not wait.
        bool is_on_devices = from.allocation && from.allocation->is_device() && to.allocation && to.allocation->is_device();
        bool waits = (when == When::Sync && !is_on_devices) || (!to.allocation && !stream.capture);
        return waits ? submit_and_wait(stream, std::move(work)) : submit(stream, std::move(work));
    });
}

API cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(nullptr, End(End::Any, to), End(End::Any, from), {n}, When::Sync); }
API cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) { return copy(s, End(End::Any, to), End(End::Any, from), {n}, When::Async); }
API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t n) { return copy(nullptr, End(End::Device, to), End::host(from), {n}, When::Sync); }
API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) { return copy(s, End(End::Device, to), End::host(from), {n}, When::Async); }
API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t n) { return copy(nullptr, End::host(to), End(End::Device, from), {n}, When::Sync); }
API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) { return copy(s, End::host(to), End(End::Device, from), {n}, When::Async); }
API cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(nullptr, End(End::Device, to), End(End::Device, from), {n}, When::Sync); }
API cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
    return copy(s, End(End::Device, to), End(End::Device, from), {n}, When::Async);
}
API cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n) { return cuMemcpyDtoD_v2(to, from, n); }
API cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n, CUstream s) { return cuMemcpyDtoDAsync_v2(to, from, n, s); }

static CUresult copy_3d(CUstream handle, const CUDA_MEMCPY3D &c, When when) {
    return in_stream(Kind::Copy, handle, [&](Stream &stream) {
        Work work;
        if (CUresult error = copy_work(work, c)) return error;
        if (work.accesses.empty()) return CUDA_SUCCESS;
        // Pageable memory is read and written in order with the host.
        bool is_pageable = work.accesses.size() == 1 && !stream.capture;
        return when == When::Sync || is_pageable ? submit_and_wait(stream, std::move(work)) : submit(stream, std::move(work));
    });
}

static CUDA_MEMCPY3D in_3d(const CUDA_MEMCPY2D &c) {
    CUDA_MEMCPY3D to = {};
    to.srcXInBytes = c.srcXInBytes, to.srcY = c.srcY, to.srcMemoryType = c.srcMemoryType;
    to.srcHost = c.srcHost, to.srcDevice = c.srcDevice, to.srcPitch = c.srcPitch;
    to.dstXInBytes = c.dstXInBytes, to.dstY = c.dstY, to.dstMemoryType = c.dstMemoryType;
    to.dstHost = c.dstHost, to.dstDevice = c.dstDevice, to.dstPitch = c.dstPitch;
    to.WidthInBytes = c.WidthInBytes, to.Height = c.Height, to.Depth = 1;
    return to;
}

API cuMemcpy2D_v2(const CUDA_MEMCPY2D *c) { return copy_3d(nullptr, in_3d(*c), When::Sync); }
API cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *c) { return copy_3d(nullptr, in_3d(*c), When::Sync); }
API cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream s) { return copy_3d(s, in_3d(*c), When::Async); }
API cuMemcpy3D_v2(const CUDA_MEMCPY3D *c) { return copy_3d(nullptr, *c, When::Sync); }
API cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *c, CUstream s) { return copy_3d(s, *c, When::Async); }
