// Capturing streams: what is submitted becomes a graph.
#include "driver.h"
#include "graph.h"

static CUstreamCaptureMode &thread_mode() {
    static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    return mode;
}

CUresult capture(Stream &stream, Work work) {
    if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    Node *node = stream.capture->graph->add(std::move(work), stream.frontier);
    stream.frontier = {node};
    return CUDA_SUCCESS;
}

static CUresult invalidate(Capture &capture, CUresult error) {
    capture.invalidated = true;
    return error;
}

CUresult refuse_in_capture(Stream &stream) { return invalidate(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED); }

CUresult capture_wait(Stream &stream, Event &event) {
    if (!event.capture) return invalidate(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    if (event.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!event.capture->graph) return CUDA_ERROR_CAPTURED_EVENT; // the capture has ended
    if (stream.capture && stream.capture != event.capture) return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    if (!stream.capture) {
        if (stream.is_null()) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        stream.capture = event.capture;
        stream.capture->streams.insert(&stream);
    }
    for (Node *node : event.frontier) {
        if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end()) stream.frontier.push_back(node);
    }
    return CUDA_SUCCESS;
}

CUresult refuse_unsafe() {
    if (thread_mode() == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
    auto this_thread = std::this_thread::get_id();
    for (const auto &stream : driver().streams) {
        if (!stream->capture || stream->capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
        bool is_global = stream->capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (is_global || stream->capture->thread == this_thread) return refuse_in_capture(*stream);
    }
    return CUDA_SUCCESS;
}

API cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
    return in_stream(Kind::Graph, handle, [&](Stream &stream) {
        if (stream.capture) return CUDA_ERROR_ILLEGAL_STATE;
        if (stream.is_null()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        stream.capture = std::make_shared<Capture>(Capture{new Graph, &stream, mode, std::this_thread::get_id(), driver().next_id++, false, {}});
        stream.capture->streams.insert(&stream);
        stream.frontier.clear();
        return CUDA_SUCCESS;
    });
}

// Whether every node is before the end of the origin stream.
static bool is_joined(const Graph &graph, const std::vector<Node *> &ends) {
    std::set<Node *> reached;
    std::vector<Node *> left = ends;
    while (!left.empty()) {
        Node *node = left.back();
        left.pop_back();
        if (!reached.insert(node).second) continue;
        left.insert(left.end(), node->after.begin(), node->after.end());
    }
    return reached.size() == graph.nodes.size();
}

API cuStreamEndCapture(CUstream handle, CUgraph *graph) {
    return in_stream(Kind::Graph, handle, [&](Stream &stream) {
        auto capture = stream.capture;
        if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
        if (capture->origin != &stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
        if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
        bool joined = is_joined(*capture->graph, stream.frontier);
        for (Stream *other : capture->streams) {
            other->capture = nullptr;
            other->frontier.clear();
        }
        *graph = nullptr;
        Graph *captured = capture->graph;
        capture->graph = nullptr;
        if (!capture->invalidated && joined) {
            *graph = driver().add(captured);
            return CUDA_SUCCESS;
        }
        delete captured;
        return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    });
}

static CUstreamCaptureStatus status_of(const Stream &stream) {
    if (!stream.capture) return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream.capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

API cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *status = status_of(stream);
        return CUDA_SUCCESS;
    });
}

API cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph, const CUgraphNode **frontier, size_t *count) {
    return in_stream(Kind::Any, handle, [&](Stream &stream) {
        *status = status_of(stream);
        if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
        if (id) *id = stream.capture->id;
        if (graph) *graph = stream.capture->graph;
        if (frontier) *frontier = stream.frontier.data();
        if (count) *count = stream.frontier.size();
        return CUDA_SUCCESS;
    });
}

API cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph, const CUgraphNode **frontier, const void **edges,
                              size_t *count) {
    if (edges) *edges = nullptr;
    return cuStreamGetCaptureInfo_v2(handle, status, id, graph, frontier, count);
}

API cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, uint64_t *id, CUgraph *graph, const CUgraphNode **frontier, const void **edges,
                           size_t *count) {
    return cuStreamGetCaptureInfo_v3(handle, status, id, graph, frontier, edges, count);
}

API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    std::swap(*mode, thread_mode());
    return CUDA_SUCCESS;
}
