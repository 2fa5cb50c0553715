#include "driver.h"
#include "graph.h"
#include "race.h"

Stream *new_stream(Context &context, unsigned flags, int priority) {
    auto stream = std::make_unique<Stream>();
    stream->context = &context;
    stream->flags = flags;
    stream->priority = std::max(-5, std::min(priority, 0));
    stream->number = driver().streams.size();
    driver().streams.push_back(std::move(stream));
    return driver().streams.back().get();
}

Stream *stream_of(CUstream handle, Context &context) {
    if (!handle || handle == CU_STREAM_LEGACY) return context.null_stream;
    if (handle == CU_STREAM_PER_THREAD) {
        Stream *&stream = context.thread_streams[std::this_thread::get_id()];
        if (!stream) stream = new_stream(context, 0, 0);
        return stream;
    }
    return driver().has(handle) ? handle : nullptr;
}

// Adds what the default stream comes after, and what comes after it.
static void add_default_order(Operation &operation) {
    Stream &stream = *operation.stream;
    if (stream.flags & CU_STREAM_NON_BLOCKING) return;
    auto add = [&](const Stream &other) {
        if (!other.last || &other == &stream) return;
        operation.clock.join(other.last->clock);
        if (!other.last->done) operation.after.push_back(other.last);
    };
    if (!stream.is_null()) return add(*stream.context->null_stream);
    for (const auto &other : driver().streams) {
        if (other->context == stream.context && !(other->flags & CU_STREAM_NON_BLOCKING)) add(*other);
    }
}

// An operation that is not in its stream yet, after `after` too.
static std::shared_ptr<Operation> new_operation(Stream &stream, Work work, const std::shared_ptr<Operation> &after) {
    static uint64_t number = 0;
    auto operation = std::make_shared<Operation>();
    operation->work = std::move(work);
    operation->stream = &stream;
    operation->number = ++number;
    operation->clock.join(driver().scheduler.host);
    if (stream.last) operation->clock.join(stream.last->clock);
    if (after) {
        operation->clock.join(after->clock);
        operation->after.push_back(after);
    }
    add_default_order(*operation);
    operation->clock.set(stream.number, ++stream.submitted);
    return operation;
}

static CUresult submit_after(Stream &stream, Work work, const std::shared_ptr<Operation> &after, std::shared_ptr<Operation> *as = nullptr) {
    auto operation = new_operation(stream, std::move(work), after);
    if (CUresult result = check_races(operation)) return result;
    stream.queue.push_back(operation);
    stream.last = operation;
    if (as) *as = operation;
    driver().scheduler.submitted(*operation);
    return CUDA_SUCCESS;
}

CUresult submit(Stream &stream, Work work, std::shared_ptr<Operation> *as) {
    if (stream.capture) return capture(stream, std::move(work));
    return submit_after(stream, std::move(work), nullptr, as);
}

CUresult submit_and_wait(Stream &stream, Work work) {
    std::shared_ptr<Operation> operation;
    if (CUresult result = submit(stream, std::move(work), &operation)) return result;
    if (stream.capture) return CUDA_SUCCESS;
    driver().scheduler.wait_for(operation);
    return stream.context->error;
}

API cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
    return in_context(Kind::Stream, [&](Context &context) {
        if (!stream || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
        *stream = driver().add(new_stream(context, flags, priority));
        return CUDA_SUCCESS;
    });
}

API cuStreamCreate(CUstream *stream, unsigned flags) { return cuStreamCreateWithPriority(stream, flags, 0); }

// What is submitted still runs.
API cuStreamDestroy_v2(CUstream stream) {
    return initialised(Kind::Any, [&] {
        if (!driver().remove(stream)) return CUDA_ERROR_INVALID_HANDLE;
        stream->destroyed = true;
        if (stream->capture) stream->capture->invalidated = true;
        return CUDA_SUCCESS;
    });
}

API cuStreamSynchronize(CUstream handle) {
    return in_stream(Kind::Wait, handle, [](Stream &stream) {
        if (stream.capture) return refuse_in_capture(stream);
        driver().scheduler.wait_for(stream.last);
        if (stream.is_null()) driver().scheduler.drain(stream.context, CU_STREAM_NON_BLOCKING);
        trim_pools();
        return stream.context->error;
    });
}

API cuStreamQuery(CUstream handle) {
    return in_stream(Kind::Query, handle, [](Stream &stream) {
        if (stream.capture) return refuse_in_capture(stream);
        if (!stream.last) return CUDA_SUCCESS;
        driver().scheduler.looked_at(stream.last);
        if (stream.context->error) return stream.context->error;
        return stream.last->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

API cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    return in_stream(Kind::Event, handle, [&](Stream &stream) {
        if (!driver().has(event)) return CUDA_ERROR_INVALID_HANDLE;
        if (event->capture || stream.capture) return capture_wait(stream, *event);
        if (!event->recorded) return CUDA_SUCCESS;
        Work work;
        work.label = "wait for an event of " + event->recorded->stream->name();
        return submit_after(stream, std::move(work), event->recorded);
    });
}

static CUresult call_host(CUstream handle, const char *label, std::function<void(CUresult)> function) {
    return in_stream(Kind::Stream, handle, [&](Stream &stream) {
        Work work;
        work.type = NODE_HOST;
        work.label = label;
        work.calls_host = work.tells_host = true;
        work.run = [function] {
            function(CUDA_SUCCESS);
            return CUDA_SUCCESS;
        };
        return submit(stream, std::move(work));
    });
}

API cuLaunchHostFunc(CUstream handle, CUhostFn function, void *data) {
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    return call_host(handle, "host function", [=](CUresult) { function(data); });
}

API cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void *data, unsigned) {
    if (!callback) return CUDA_ERROR_INVALID_VALUE;
    return call_host(handle, "callback", [=](CUresult status) { callback(handle, status, data); });
}

API cuStreamGetPriority(CUstream handle, int *priority) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *priority = stream.priority;
        return CUDA_SUCCESS;
    });
}

API cuStreamGetFlags(CUstream handle, unsigned *flags) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *flags = stream.flags;
        return CUDA_SUCCESS;
    });
}

API cuStreamGetId(CUstream handle, unsigned long long *id) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *id = stream.number;
        return CUDA_SUCCESS;
    });
}

API cuStreamGetCtx(CUstream handle, CUcontext *context) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *context = stream.context;
        return CUDA_SUCCESS;
    });
}

API cuStreamGetDevice(CUstream handle, CUdevice *device) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *device = stream.context->device;
        return CUDA_SUCCESS;
    });
}

API cuStreamAttachMemAsync(CUstream handle, CUdeviceptr, size_t, unsigned) {
    return in_stream(Kind::Any, handle, [](Stream &) { return CUDA_SUCCESS; });
}
