// Memory pools. What is freed stays reserved up to the release threshold, as figures; memory itself is new each time.
#include "driver.h"

void trim_pools() {
    for (const auto &pool : driver().pools) {
        pool->reserved = std::max<size_t>(pool->used, std::min<uint64_t>(pool->reserved, pool->release_threshold));
    }
}

template <class F> static CUresult of_pool(CUmemoryPool pool, F body) {
    return initialised(Kind::Any, [&] { return driver().has(pool) ? body() : CUDA_ERROR_INVALID_HANDLE; });
}

template <class F> static CUresult of_device(CUdevice device, F body) {
    return initialised(Kind::Any, [&] { return driver().has_device(device) ? body(driver().device(device)) : CUDA_ERROR_INVALID_DEVICE; });
}

API cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    return of_device(device, [&](Device &device) {
        *pool = device.default_pool;
        return CUDA_SUCCESS;
    });
}

API cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    return of_device(device, [&](Device &device) {
        *pool = device.pool;
        return CUDA_SUCCESS;
    });
}

API cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
    return of_device(device, [&](Device &device) {
        if (!driver().has(pool) || pool->device != device.ordinal) return CUDA_ERROR_INVALID_VALUE;
        device.pool = pool;
        return CUDA_SUCCESS;
    });
}

API cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
    return initialised(Kind::Alloc, [&] {
        if (!properties || properties->allocType != 1) return CUDA_ERROR_INVALID_VALUE;
        if (properties->location.type != 1 || !driver().has_device(properties->location.id)) return CUDA_ERROR_INVALID_VALUE;
        *pool = driver().new_pool(properties->location.id, false);
        (*pool)->max_bytes = properties->maxSize;
        return CUDA_SUCCESS;
    });
}

// Memory of it that is in use stays.
API cuMemPoolDestroy(CUmemoryPool pool) {
    return of_pool(pool, [&] {
        if (pool->is_default) return CUDA_ERROR_INVALID_VALUE;
        Device &device = driver().device(pool->device);
        if (device.pool == pool) device.pool = device.default_pool;
        driver().remove(pool);
        return CUDA_SUCCESS;
    });
}

API cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
    return of_pool(pool, [&] {
        pool->reserved = std::max(pool->used, std::min(pool->reserved, bytes));
        return CUDA_SUCCESS;
    });
}

// 1 to 3: how memory is used again; 4: the release threshold; 5 to 8: figures.
API cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void *value) {
    return of_pool(pool, [&] {
        if (attribute >= 1 && attribute <= 3) {
            pool->reuse[attribute - 1] = *static_cast<int *>(value);
        } else if (attribute == 4) {
            pool->release_threshold = *static_cast<uint64_t *>(value);
        } else if (attribute == 6 && *static_cast<uint64_t *>(value) == 0) {
            pool->reserved_high = pool->reserved;
        } else if (attribute == 8 && *static_cast<uint64_t *>(value) == 0) {
            pool->used_high = pool->used;
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
        return CUDA_SUCCESS;
    });
}

API cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void *value) {
    return of_pool(pool, [&] {
        if (attribute >= 1 && attribute <= 3) {
            *static_cast<int *>(value) = pool->reuse[attribute - 1];
            return CUDA_SUCCESS;
        }
        uint64_t &figure = *static_cast<uint64_t *>(value);
        switch (attribute) {
        case 4: figure = pool->release_threshold; return CUDA_SUCCESS;
        case 5: figure = pool->reserved; return CUDA_SUCCESS;
        case 6: figure = pool->reserved_high; return CUDA_SUCCESS;
        case 7: figure = pool->used; return CUDA_SUCCESS;
        case 8: figure = pool->used_high; return CUDA_SUCCESS;
        }
        return CUDA_ERROR_INVALID_VALUE;
    });
}

API cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *accesses, size_t count) {
    return of_pool(pool, [&] {
        for (size_t i = 0; i < count; i++) {
            const CUmemAccessDesc &access = accesses[i];
            if (access.location.type != 1 || !driver().has_device(access.location.id)) return CUDA_ERROR_INVALID_VALUE;
            if (!driver().settings.peer_access && access.location.id != pool->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
            if (access.flags) {
                pool->readers.insert(access.location.id);
            } else {
                pool->readers.erase(access.location.id);
            }
        }
        return CUDA_SUCCESS;
    });
}

API cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location) {
    return of_pool(pool, [&] {
        *flags = location->id == pool->device || pool->readers.count(location->id) ? 3 : 0;
        return CUDA_SUCCESS;
    });
}
