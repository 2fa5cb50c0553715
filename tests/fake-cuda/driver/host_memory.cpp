// Memory of the host that devices see: pinned, registered and managed.
#include "allocate.h"
#include "driver.h"
#include "graph.h"

static CUresult allocate_host(void **start, size_t bytes, Place place) {
    return in_context(Kind::HostAlloc, [&](Context &context) {
        if (CUresult refused = refuse_unsafe()) return refused;
        if (!start || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        auto made = driver().memory->allocate_host(bytes, place, context.device, &context);
        if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
        *start = reinterpret_cast<void *>(made->start);
        return CUDA_SUCCESS;
    });
}

API cuMemHostAlloc(void **start, size_t bytes, unsigned) { return allocate_host(start, bytes, Place::Pinned); }
API cuMemAllocHost_v2(void **start, size_t bytes) { return allocate_host(start, bytes, Place::Pinned); }
API cuMemAllocManaged(CUdeviceptr *start, size_t bytes, unsigned) {
    void *made = nullptr;
    CUresult result = allocate_host(&made, bytes, Place::Managed);
    if (!result) *start = reinterpret_cast<CUdeviceptr>(made);
    return result;
}

// Nobody says that this waits for work, so that work which still uses the memory is an error.
static CUresult free_host(void *start, Place place, CUresult unknown) {
    return in_context(Kind::Free, [&](Context &) {
        if (!start) return CUDA_SUCCESS;
        auto allocation = driver().memory->find(reinterpret_cast<uint64_t>(start));
        if (!allocation || allocation->place != place || allocation->start != reinterpret_cast<uint64_t>(start)) return unknown;
        CUresult result = CUDA_SUCCESS;
        for (const Past &past : allocation->past) {
            if (past.operation->done) continue;
            const char *does = place == Place::Pinned ? "free of " : "unregistering ";
            result = found(does + allocation->name() + ", which " + past.operation->work.label + " still uses", CUDA_ERROR_INVALID_VALUE);
            driver().scheduler.wait_for(past.operation);
            break;
        }
        driver().scheduler.drain(result ? allocation->context : nullptr);
        driver().memory->release(allocation);
        return result;
    });
}

API cuMemFreeHost(void *start) { return free_host(start, Place::Pinned, CUDA_ERROR_INVALID_VALUE); }

API cuMemHostRegister_v2(void *start, size_t bytes, unsigned) {
    return in_context(Kind::HostAlloc, [&](Context &context) {
        if (!start || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        uint64_t address = reinterpret_cast<uint64_t>(start);
        if (driver().memory->find(address) || driver().memory->find(address + bytes - 1)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
        driver().memory->register_host(start, bytes, context.device, &context);
        return CUDA_SUCCESS;
    });
}

API cuMemHostUnregister(void *start) { return free_host(start, Place::Registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED); }

API cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *start, unsigned) {
    return in_context(Kind::Any, [&](Context &) {
        if (!driver().memory->find(reinterpret_cast<uint64_t>(start))) return CUDA_ERROR_INVALID_VALUE;
        *address = reinterpret_cast<CUdeviceptr>(start);
        return CUDA_SUCCESS;
    });
}

API cuMemHostGetFlags(unsigned *flags, void *) {
    *flags = 0;
    return CUDA_SUCCESS;
}

API cuMemAdvise_v2(CUdeviceptr, size_t, int, CUmemLocation) {
    return in_context(Kind::Any, [](Context &) { return CUDA_SUCCESS; });
}
API cuMemAdvise(CUdeviceptr, size_t, int, CUdevice) {
    return in_context(Kind::Any, [](Context &) { return CUDA_SUCCESS; });
}

static CUresult prefetch(CUdeviceptr address, size_t bytes, CUstream handle) {
    return in_stream(Kind::Copy, handle, [&](Stream &stream) {
        auto found = in_use(address, bytes, "prefetch");
        if (!found || found->place != Place::Managed) return CUDA_ERROR_INVALID_VALUE;
        Work work;
        work.label = "prefetch of " + std::to_string(bytes) + " bytes";
        return submit(stream, std::move(work));
    });
}
API cuMemPrefetchAsync_v2(CUdeviceptr address, size_t bytes, CUmemLocation, unsigned, CUstream stream) { return prefetch(address, bytes, stream); }
API cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice, CUstream stream) { return prefetch(address, bytes, stream); }

static CUresult attribute_of(const Allocation &allocation, int attribute, CUdeviceptr address, void *data) {
    switch (attribute) {
    case 1: *static_cast<CUcontext *>(data) = allocation.context; break;
    case 2: *static_cast<unsigned *>(data) = allocation.is_device() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST; break;
    case 3: *static_cast<CUdeviceptr *>(data) = address; break;
    case 4: *static_cast<CUdeviceptr *>(data) = allocation.is_device() ? 0 : address; break;
    case 8: *static_cast<unsigned *>(data) = allocation.place == Place::Managed; break;
    case 9: *static_cast<int *>(data) = allocation.device; break;
    case 11: *static_cast<CUdeviceptr *>(data) = allocation.start; break;
    case 12: *static_cast<size_t *>(data) = allocation.bytes; break;
    case 13: *static_cast<unsigned *>(data) = 1; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}

API cuPointerGetAttribute(void *data, int attribute, CUdeviceptr address) {
    return initialised(Kind::Any, [&] {
        auto found = driver().memory->find(address);
        return found && !found->freed ? attribute_of(*found, attribute, address, data) : CUDA_ERROR_INVALID_VALUE;
    });
}

API cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr address) {
    return initialised(Kind::Any, [&] {
        auto found = driver().memory->find(address);
        for (unsigned i = 0; i < count; i++) {
            // Of memory that no device sees all is 0.
            if (!found || found->freed) {
                *static_cast<unsigned *>(data[i]) = 0;
            } else if (CUresult error = attribute_of(*found, attributes[i], address, data[i])) {
                return error;
            }
        }
        return CUDA_SUCCESS;
    });
}
