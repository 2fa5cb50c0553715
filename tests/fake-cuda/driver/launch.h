// Launches of kernels.
#pragma once

#include "module.h"
#include "stream.h"

// A launch with its parameters, from a call or a node of a graph.
struct Launch {
    Function *function;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    std::vector<std::vector<uint64_t>> parameters; // in words
    Context *context;

    // The error if no device could launch it.
    CUresult check() const;
    // Its accesses to memory, and its fault, if any, which occurs when it runs.
    std::vector<Access> accesses(std::string &fault) const;
    CUresult run();

    // The launch that runs on this thread.
    static Launch *&running();
    // Ends it with a fault, from the handler of a bad address.
    void fault(uint64_t address);
};

// Fills `launch` from the arguments of a call.
CUresult read_parameters(Launch &launch, void **parameters, void **extra);
CUresult launch_work(Work &work, std::shared_ptr<Launch> launch);

// Checks that all memory that work reads was initialised.
CUresult check_content(const std::vector<Access> &accesses, const std::string &label);
// Marks memory that work writes as initialised.
void note_written(const std::vector<Access> &accesses);
