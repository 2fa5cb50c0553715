// Streams and events.
#pragma once

#include <deque>

#include "context.h"

// A capture in progress (graph.h).
struct Capture {
    Graph *graph;
    Stream *origin;
    CUstreamCaptureMode mode;
    std::thread::id thread;
    uint64_t id;
    bool invalidated = false;
    std::set<Stream *> streams;
};

struct Stream {
    Context *context;
    size_t number; // of all streams
    unsigned flags;
    int priority;
    std::deque<std::shared_ptr<Operation>> queue; // not done
    std::shared_ptr<Operation> last;              // submitted
    uint64_t submitted = 0;
    bool destroyed = false;

    std::shared_ptr<Capture> capture;
    std::vector<CUgraphNode> frontier; // on which the next captured node depends

    bool is_null() const { return context->null_stream == this; }
    std::string name() const { return is_null() ? "the default stream" : "stream " + std::to_string(number); }
};

struct Event {
    Context *context;
    unsigned flags;
    std::shared_ptr<Operation> recorded; // null: nothing to wait for
    std::shared_ptr<Capture> capture;
    std::vector<CUgraphNode> frontier;
};

// The stream of a handle; null if it is not one of the current context.
Stream *stream_of(CUstream handle, Context &context);
Stream *new_stream(Context &context, unsigned flags, int priority);

// Submits work, or adds it to the graph that the stream is capturing. The operation is stored in `as`: when this
// returns, it may have run, and another thread may have submitted more.
CUresult submit(Stream &stream, Work work, std::shared_ptr<Operation> *as = nullptr);
// The same, and waits until the work is done.
CUresult submit_and_wait(Stream &stream, Work work);
