#include "context.h"

#include "driver.h"

static std::vector<Context *> &context_stack() {
    static thread_local std::vector<Context *> stack;
    return stack;
}

Context *current_context() {
    auto &stack = context_stack();
    if (stack.empty() || !driver().has(stack.back())) return nullptr;
    return stack.back();
}

static Context *new_context(int device, bool is_primary, unsigned flags) {
    auto *context = new Context;
    context->device = device;
    context->is_primary = is_primary;
    context->flags = flags;
    context->id = driver().next_id++;
    context->null_stream = new_stream(*context, 0, 0);
    return driver().add(context);
}

void destroy(Context *context) {
    Driver &d = driver();
    d.scheduler.drain(context);
    d.memory->release_all(context);
    for (const auto &stream : d.streams) {
        if (stream->context == context) d.remove(stream.get());
    }
    for (const auto &device : d.devices) {
        if (device->primary == context) device->primary = nullptr;
    }
    d.remove(context); // streams and events still point to it
}

template <class F> static CUresult of_device(CUdevice ordinal, F body) {
    return initialised(Kind::Context, [&] {
        return driver().has_device(ordinal) ? body(driver().device(ordinal)) : CUDA_ERROR_INVALID_DEVICE;
    });
}

API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice ordinal) {
    return of_device(ordinal, [&](Device &device) {
        if (device.lost) return CUDA_ERROR_DEVICE_UNAVAILABLE;
        if (!device.primary) device.primary = new_context(ordinal, true, device.primary_flags);
        device.retained++;
        *context = device.primary;
        return CUDA_SUCCESS;
    });
}

API cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
    return of_device(ordinal, [](Device &device) {
        if (device.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
        if (--device.retained == 0) destroy(device.primary);
        return CUDA_SUCCESS;
    });
}

API cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
    return of_device(ordinal, [](Device &device) {
        if (device.primary) destroy(device.primary);
        device.retained = 0;
        return CUDA_SUCCESS;
    });
}

API cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
    return of_device(ordinal, [&](Device &device) {
        device.primary_flags = flags;
        if (device.primary) device.primary->flags = flags;
        return CUDA_SUCCESS;
    });
}

API cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned *flags, int *is_active) {
    return of_device(ordinal, [&](Device &device) {
        *flags = device.primary_flags;
        *is_active = device.primary != nullptr;
        return CUDA_SUCCESS;
    });
}

API cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice ordinal) {
    return of_device(ordinal, [&](Device &) {
        *context = new_context(ordinal, false, flags);
        context_stack().push_back(*context);
        return CUDA_SUCCESS;
    });
}
API cuCtxCreate_v3(CUcontext *context, void *, int, unsigned flags, CUdevice ordinal) { return cuCtxCreate_v2(context, flags, ordinal); }
API cuCtxCreate_v4(CUcontext *context, void *, unsigned flags, CUdevice ordinal) { return cuCtxCreate_v2(context, flags, ordinal); }

API cuCtxDestroy_v2(CUcontext context) {
    return initialised(Kind::Context, [&] {
        if (!driver().has(context) || context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
        destroy(context);
        auto &stack = context_stack();
        if (!stack.empty() && stack.back() == context) stack.pop_back();
        return CUDA_SUCCESS;
    });
}

API cuCtxGetCurrent(CUcontext *context) {
    return initialised(Kind::Any, [&] {
        *context = current_context();
        return CUDA_SUCCESS;
    });
}

API cuCtxSetCurrent(CUcontext context) {
    return initialised(Kind::Any, [&] {
        if (context && !driver().has(context)) return CUDA_ERROR_INVALID_CONTEXT;
        auto &stack = context_stack();
        if (!stack.empty()) stack.pop_back();
        if (context) stack.push_back(context);
        return CUDA_SUCCESS;
    });
}

API cuCtxPushCurrent_v2(CUcontext context) {
    return initialised(Kind::Any, [&] {
        if (!driver().has(context)) return CUDA_ERROR_INVALID_CONTEXT;
        context_stack().push_back(context);
        return CUDA_SUCCESS;
    });
}

API cuCtxPopCurrent_v2(CUcontext *context) {
    return initialised(Kind::Any, [&] {
        auto &stack = context_stack();
        if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
        if (context) *context = stack.back();
        stack.pop_back();
        return CUDA_SUCCESS;
    });
}

API cuCtxGetDevice(CUdevice *device) {
    return in_context(Kind::Any, [&](Context &context) {
        *device = context.device;
        return CUDA_SUCCESS;
    });
}

API cuCtxSynchronize() {
    return in_context(Kind::Wait, [](Context &context) {
        for (const auto &stream : driver().streams) {
            if (stream->context == &context && stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
        driver().scheduler.drain(&context);
        trim_pools();
        return context.error;
    });
}

API cuCtxGetFlags(unsigned *flags) {
    return in_context(Kind::Any, [&](Context &context) {
        *flags = context.flags;
        return CUDA_SUCCESS;
    });
}

API cuCtxSetFlags(unsigned flags) {
    return in_context(Kind::Any, [&](Context &context) {
        context.flags = flags;
        return CUDA_SUCCESS;
    });
}

API cuCtxGetId(CUcontext context, unsigned long long *id) {
    return initialised(Kind::Any, [&] {
        Context *asked = context ? context : current_context();
        if (!driver().has(asked)) return CUDA_ERROR_INVALID_CONTEXT;
        *id = asked->id;
        return CUDA_SUCCESS;
    });
}

API cuCtxGetApiVersion(CUcontext, unsigned *version) {
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

API cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return in_context(Kind::Any, [&](Context &) {
        if (least) *least = 0;
        if (greatest) *greatest = -5;
        return CUDA_SUCCESS;
    });
}

API cuCtxGetLimit(size_t *value, int limit) {
    return in_context(Kind::Any, [&](Context &context) {
        *value = context.limits[limit];
        return CUDA_SUCCESS;
    });
}

API cuCtxSetLimit(int limit, size_t value) {
    return in_context(Kind::Any, [&](Context &context) {
        context.limits[limit] = value;
        return CUDA_SUCCESS;
    });
}

API cuCtxGetCacheConfig(int *config) {
    *config = 0;
    return CUDA_SUCCESS;
}
API cuCtxSetCacheConfig(int) { return CUDA_SUCCESS; }

API cuCtxEnablePeerAccess(CUcontext peer, unsigned) {
    return in_context(Kind::Any, [&](Context &context) {
        if (!driver().has(peer) || peer->device == context.device) return CUDA_ERROR_INVALID_DEVICE;
        if (!driver().settings.peer_access) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
        return context.peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    });
}

API cuCtxDisablePeerAccess(CUcontext peer) {
    return in_context(Kind::Any, [&](Context &context) {
        return context.peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    });
}

API cuProfilerStart() { return CUDA_SUCCESS; }
API cuProfilerStop() { return CUDA_SUCCESS; }
