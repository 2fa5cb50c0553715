#include "allocate.h"

#include <string.h>

#include "driver.h"
#include "graph.h"

AllocationRef in_use(uint64_t address, size_t bytes, const std::string &what) {
    auto found = driver().memory->find(address);
    if (found && !found->freed && bytes <= found->end() - address) return found;
    std::string text = what + ": " + driver().memory->about(address);
    if (found && !found->freed) text += ", and " + std::to_string(bytes) + " bytes from there on go past its end";
    found_error(text, CUDA_ERROR_INVALID_VALUE);
    return nullptr;
}

// Whether `bytes` more fit once frees that were submitted have run. Those of `stream` count at once; for others it waits, which it
// does itself if it is given, and else the host does.
static bool make_room(Device &device, size_t bytes, Stream *stream) {
    Driver &d = driver();
    auto fits = [&] { return bytes <= d.settings.memory_bytes - d.memory->used_bytes(device.ordinal); };
    auto frees = device.frees;
    for (auto &[allocation, operation] : frees) {
        if (fits()) break;
        if (allocation->counted && stream && operation->stream != stream) {
            Work wait;
            wait.label = "wait for memory";
            std::shared_ptr<Operation> waiting;
            submit(*stream, std::move(wait), &waiting);
            if (!operation->done) waiting->after.push_back(operation);
            waiting->clock.join(operation->clock);
        } else if (!stream) {
            d.scheduler.wait_for(operation);
        }
        d.memory->uncount(*allocation);
    }
    return fits();
}

static AllocationRef allocate(Context &context, size_t bytes, Pool *pool, Stream *stream) {
    Device &device = driver().device(context.device);
    if (!make_room(device, bytes, stream)) return nullptr;
    if (pool && pool->max_bytes && pool->used + bytes > pool->max_bytes) return nullptr;
    auto made = driver().memory->allocate(context.device, bytes, pool, &context);
    if (made && pool) {
        pool->used_high = std::max(pool->used_high, pool->used);
        pool->reserved = std::max(pool->reserved, pool->used);
        pool->reserved_high = std::max(pool->reserved_high, pool->reserved);
    }
    return made;
}

API cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
    return in_context(Kind::Alloc, [&](Context &context) {
        if (CUresult refused = refuse_unsafe()) return refused;
        if (!address || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
        auto made = allocate(context, bytes, nullptr, nullptr);
        if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
        *address = made->start;
        return CUDA_SUCCESS;
    });
}

API cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned) {
    *pitch = (width + 511) / 512 * 512;
    return cuMemAlloc_v2(address, *pitch * height);
}

// Waits for all work of the device, as drivers do. Memory of a pool has to be free of work already.
API cuMemFree_v2(CUdeviceptr address) {
    return in_context(Kind::Free, [&](Context &) {
        if (!address) return CUDA_SUCCESS;
        if (CUresult refused = refuse_unsafe()) return refused;
        auto found = in_use(address, 0, "free");
        if (!found || found->start != address || !(found->is_device() || found->place == Place::Managed)) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (found->pool) {
            for (const Past &past : found->past) {
                if (!past.operation->done) {
                    found_error("free of " + found->name() + ", which " + past.operation->work.label + " still uses", CUDA_ERROR_INVALID_VALUE);
                    break;
                }
            }
        }
        Context *context = found->context;
        driver().scheduler.drain(context);
        driver().memory->release(found);
        return context->error;
    });
}

Work freeing(const AllocationRef &allocation) {
    Work work;
    work.type = NODE_MEM_FREE;
    work.label = "free of " + std::to_string(allocation->bytes) + " bytes";
    work.accesses.push_back({allocation, Box::bytes(allocation->start, allocation->bytes), Mode::Write, ""});
    work.run = [allocation] {
        driver().memory->release(allocation);
        auto &frees = driver().device(allocation->device).frees;
        auto is_it = [&](const auto &free) { return free.first == allocation; };
        frees.erase(std::remove_if(frees.begin(), frees.end(), is_it), frees.end());
        return CUDA_SUCCESS;
    };
    return work;
}

static CUresult allocate_async(CUdeviceptr *address, size_t bytes, Pool *pool, CUstream handle) {
    return in_stream(Kind::Alloc, handle, [&](Stream &stream) {
        Pool *from = pool ? pool : driver().device(stream.context->device).pool;
        if (!address || bytes == 0 || !driver().has(from) || from->device != stream.context->device) return CUDA_ERROR_INVALID_VALUE;
        auto made = allocate(*stream.context, bytes, from, stream.capture ? nullptr : &stream);
        if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
        Work work;
        work.type = NODE_MEM_ALLOC;
        work.label = "allocation of " + std::to_string(bytes) + " bytes";
        work.accesses.push_back({made, Box::bytes(made->start, bytes), Mode::Write, ""});
        if (stream.capture) {
            // Each launch of the graph finds unknown content.
            work.run = [made] {
                memset(reinterpret_cast<void *>(made->start), 0xFF, made->bytes);
                made->initialised = Bytes();
                return CUDA_SUCCESS;
            };
        }
        if (CUresult error = submit(stream, std::move(work))) {
            driver().memory->release(made);
            return error;
        }
        *address = made->start;
        return CUDA_SUCCESS;
    });
}

API cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream stream) { return allocate_async(address, bytes, nullptr, stream); }
API cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream) {
    return pool ? allocate_async(address, bytes, pool, stream) : CUDA_ERROR_INVALID_VALUE;
}

API cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    return in_stream(Kind::Free, handle, [&](Stream &stream) {
        if (!address) return CUDA_SUCCESS;
        auto found = in_use(address, 0, "free");
        if (!found || found->start != address || !found->is_device()) return CUDA_ERROR_INVALID_VALUE;
        Work work = freeing(found);
        if (stream.capture) {
            // The graph keeps it; its content is unknown from there on.
            work.run = [found] {
                memset(reinterpret_cast<void *>(found->start), 0xFF, found->bytes);
                found->initialised = Bytes();
                return CUDA_SUCCESS;
            };
            return submit(stream, std::move(work));
        }
        auto &frees = driver().device(found->device).frees;
        std::shared_ptr<Operation> operation;
        CUresult error = submit(stream, std::move(work), &operation);
        if (!error && !found->released) frees.emplace_back(found, operation);
        if (!error) found->freed = true;
        return error;
    });
}

API cuMemGetInfo_v2(size_t *free, size_t *total) {
    return in_context(Kind::Any, [&](Context &context) {
        *total = driver().settings.memory_bytes;
        *free = *total - driver().memory->used_bytes(context.device);
        return CUDA_SUCCESS;
    });
}

API cuMemGetAddressRange_v2(CUdeviceptr *start, size_t *bytes, CUdeviceptr address) {
    return in_context(Kind::Any, [&](Context &) {
        auto found = driver().memory->find(address);
        if (!found || found->freed) return CUDA_ERROR_NOT_FOUND;
        if (start) *start = found->start;
        if (bytes) *bytes = found->bytes;
        return CUDA_SUCCESS;
    });
}
