// The work of a stream or a graph: a piece of work, and an operation, which is a piece of work in its order among
// others.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api.h"
#include "box.h"
#include "clock.h"

struct Allocation;
struct Launch;

// `Opened` memory may be read and written, and is not checked for conflicts: memory whose size only the kernel knows.
enum class Mode { Read, Write, Atomic, Opened };

// An access of a piece of work to memory.
struct Access {
    std::shared_ptr<Allocation> allocation;
    Box box;
    Mode mode;
    std::string what; // "the first view"

    bool conflicts(const Access &other) const {
        if (allocation != other.allocation || mode == Mode::Opened || other.mode == Mode::Opened) return false;
        return (mode != other.mode || mode == Mode::Write) && box.overlaps(other.box);
    }
};

struct Work {
    CUgraphNodeType type = NODE_EMPTY;
    std::string label; // "copy of 64 bytes to device 0"
    std::vector<Access> accesses;
    // Runs it, with its memory accessible; an error stays with the context.
    std::function<CUresult()> run;
    std::shared_ptr<Launch> launch; // of kernels
    bool calls_host = false;        // so that the driver is not locked meanwhile
    bool is_download = false;       // a copy from a device to pinned memory
    bool tells_host = false;        // it, or a node of it, calls the host, which so knows what was before
};

struct Operation {
    Work work;
    Stream *stream;
    uint64_t number; // of all operations, from 1
    VectorClock clock;
    std::vector<std::shared_ptr<Operation>> after; // other than what is before it in its stream
    bool done = false;
    double done_ms = 0;
};
