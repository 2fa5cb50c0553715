// Devices and contexts.
#pragma once

#include <set>
#include <thread>

#include "memory.h"

struct Pool {
    int device;
    bool is_default;
    uint64_t release_threshold = 0;
    size_t max_bytes = 0;                            // 0: as the device has
    size_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
    std::set<int> readers; // other devices that may access it
    int reuse[3] = {1, 1, 1};

    Pool(int device, bool is_default) : device(device), is_default(is_default) {}
};

// The effect of a wait of the host on all pools.
void trim_pools();

struct Context {
    int device;
    bool is_primary;
    unsigned flags = 0;
    uint64_t id;
    CUresult error = CUDA_SUCCESS; // of a kernel; it stays
    Stream *null_stream = nullptr;
    std::map<std::thread::id, Stream *> thread_streams;
    std::set<Context *> peers; // whose memory this one's kernels may access
    std::map<int, size_t> limits;
};

struct Device {
    int ordinal;
    Context *primary = nullptr;
    unsigned retained = 0, primary_flags = 0;
    bool lost = false;
    Pool *default_pool = nullptr, *pool = nullptr;
    // Memory that is to be freed by operations which have not run.
    std::vector<std::pair<AllocationRef, std::shared_ptr<Operation>>> frees;
};

// Ends all of its work and frees its memory.
void destroy(Context *context);
// The calling thread's context; null if there is none.
Context *current_context();
