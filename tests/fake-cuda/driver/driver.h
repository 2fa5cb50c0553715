// The state of the library, how calls enter it, and how it reports findings.
#pragma once

#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "failure.h"
#include "scheduler.h"
#include "settings.h"
#include "stream.h"

struct Module;
struct Function;
struct Graph;
struct GraphExec;
struct Condition;

struct Driver {
    Settings settings;
    Random random{0};
    Failures failures;
    std::unique_ptr<Memory> memory;
    std::vector<std::unique_ptr<Device>> devices;
    bool is_initialised = false;
    std::vector<std::string> findings;
    Scheduler scheduler;
    uint64_t next_id = 1;

    std::unordered_set<void *> handles; // that exist, of any kind
    std::map<uint64_t, Condition> conditions; // of conditional nodes, by their handles
    std::vector<std::unique_ptr<Stream>> streams; // also those that were destroyed
    std::vector<std::unique_ptr<Pool>> pools;     // likewise

    explicit Driver(const Settings &settings);
    ~Driver();

    Device &device(int ordinal) { return *devices[size_t(ordinal)]; }
    bool has_device(int ordinal) const { return ordinal >= 0 && size_t(ordinal) < devices.size(); }
    bool has(const void *handle) const { return handles.count(const_cast<void *>(handle)) > 0; }
    template <class T> T *add(T *object) {
        handles.insert(object);
        return object;
    }
    bool remove(void *handle) { return handles.erase(handle) > 0; }
    Pool *new_pool(int device, bool is_default) {
        pools.push_back(std::make_unique<Pool>(device, is_default));
        return add(pools.back().get());
    }
};

// The only driver, until `fake_cuda_reset`.
Driver &driver();
// Must be held to access the driver.
std::mutex &driver_mutex();
// The calling thread's lock, while it is in a call.
std::unique_lock<std::mutex> &driver_lock();
bool has_driver_lock();

// Reports a finding, and returns `error`, unless findings are only reported.
CUresult found(const std::string &what, CUresult error);
// The same for errors that a device would certainly report too: always returned.
CUresult found_error(const std::string &what, CUresult error);

// Enters the library; `refused` tells whether the call may go on.
class Call {
    std::unique_lock<std::mutex> lock;

  public:
    CUresult refused = CUDA_SUCCESS;
    Context *context = nullptr;

    enum Needs { Nothing, Initialised, AContext };
    Call(Kind kind, Needs needs);
    ~Call();
    Call(const Call &) = delete;
};

// Calls `body` with the context that it needs.
template <class F> CUresult in_context(Kind kind, F body) {
    Call call(kind, Call::AContext);
    return call.refused ? call.refused : body(*call.context);
}

template <class F> CUresult initialised(Kind kind, F body) {
    Call call(kind, Call::Initialised);
    return call.refused ? call.refused : body();
}

// The same for work in a stream.
template <class F> CUresult in_stream(Kind kind, CUstream handle, F body) {
    return in_context(kind, [&](Context &context) {
        Stream *stream = stream_of(handle, context);
        if (!stream) return CUDA_ERROR_INVALID_HANDLE;
        if (stream->context->error) return stream->context->error;
        return body(*stream);
    });
}
