// Launches of kernels.
#pragma once

#include "module.h"
#include "stream.h"

// A launch with its parameters, as a call or a node of a graph gave them.
struct Launch {
    Function *function;
    unsigned grid[3], block[3];
    size_t shared_bytes;
    std::vector<std::vector<uint64_t>> parameters; // in words
    Context *context;

    // Why no device takes it.
    CUresult check() const;
    // What it touches, and what is wrong with it, which is found when it runs.
    std::vector<Access> accesses(std::string &fault) const;
    CUresult run();

    // The one that runs on this thread.
    static Launch *&running();
    // Stops it, from the handler of a bad address.
    void fault(uint64_t address);
};

// Fills `launch` from the arguments of a call.
CUresult read_parameters(Launch &launch, void **parameters, void **extra);
CUresult launch_work(Work &work, std::shared_ptr<Launch> launch);

// What work reads has to be there, ..
CUresult check_content(const std::vector<Access> &accesses, const std::string &label);
// .. and what it writes is there from now on.
void note_written(const std::vector<Access> &accesses);
