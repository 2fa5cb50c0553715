// Events: a place in a stream, which other streams and the host can wait for.
#include "driver.h"
#include "graph.h"

template <class F> static CUresult of_event(Kind kind, CUevent event, F body) {
    return in_context(kind, [&](Context &) {
        if (!driver().has(event)) return CUDA_ERROR_INVALID_HANDLE;
        if (event->capture) return CUDA_ERROR_CAPTURED_EVENT;
        return body();
    });
}

API cuEventCreate(CUevent *event, unsigned flags) {
    return in_context(Kind::Event, [&](Context &context) {
        if (!event || flags > 7) return CUDA_ERROR_INVALID_VALUE;
        *event = driver().add(new Event{&context, flags, nullptr, nullptr, {}});
        return CUDA_SUCCESS;
    });
}

API cuEventDestroy_v2(CUevent event) {
    return initialised(Kind::Any, [&] {
        if (!driver().remove(event)) return CUDA_ERROR_INVALID_HANDLE;
        delete event;
        return CUDA_SUCCESS;
    });
}

API cuEventRecordWithFlags(CUevent event, CUstream handle, unsigned) {
    return in_stream(Kind::Event, handle, [&](Stream &stream) {
        if (!driver().has(event)) return CUDA_ERROR_INVALID_HANDLE;
        if (event->context != stream.context) return CUDA_ERROR_INVALID_HANDLE;
        if (stream.capture) {
            event->capture = stream.capture;
            event->frontier = stream.frontier;
            return CUDA_SUCCESS;
        }
        event->capture = nullptr;
        Work work;
        work.label = "record of an event";
        return submit(stream, std::move(work), &event->recorded);
    });
}

API cuEventRecord(CUevent event, CUstream handle) { return cuEventRecordWithFlags(event, handle, 0); }

API cuEventQuery(CUevent event) {
    return of_event(Kind::Query, event, [&] {
        if (!event->recorded) return CUDA_SUCCESS;
        driver().scheduler.looked_at(event->recorded);
        if (event->context->error) return event->context->error;
        return event->recorded->done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
    });
}

API cuEventSynchronize(CUevent event) {
    return of_event(Kind::Wait, event, [&] {
        auto recorded = event->recorded;
        Context *context = event->context;
        driver().scheduler.wait_for(recorded);
        return context->error;
    });
}

API cuEventElapsedTime(float *elapsed_ms, CUevent start, CUevent end) {
    return of_event(Kind::Any, start, [&] {
        if (!driver().has(end) || !elapsed_ms) return CUDA_ERROR_INVALID_HANDLE;
        for (CUevent event : {start, end}) {
            if (event->context->error) return event->context->error;
            if (!event->recorded || event->flags & CU_EVENT_DISABLE_TIMING) return CUDA_ERROR_INVALID_HANDLE;
            if (!event->recorded->done) return CUDA_ERROR_NOT_READY;
        }
        *elapsed_ms = float(end->recorded->done_ms - start->recorded->done_ms);
        return CUDA_SUCCESS;
    });
}

API cuEventElapsedTime_v2(float *elapsed_ms, CUevent start, CUevent end) { return cuEventElapsedTime(elapsed_ms, start, end); }
