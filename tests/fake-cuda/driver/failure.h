// Failures on demand: `FAKE_CUDA_FAIL=launch:5` and so on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api.h"

// Of calls; `Fault` is of kernels that run, and `Lost` of any call.
enum class Kind { Any, Init, Device, Context, Module, Alloc, HostAlloc, Free, Copy, Set, Launch, Stream, Event, Wait, Query, Graph, Library, Fault, Lost };

class Failures {
    struct Demand {
        Kind kind;
        int device; // -1: any
        uint64_t at, end;
        CUresult error;
        uint64_t seen = 0;
    };
    std::vector<Demand> demands;
    std::map<Kind, uint64_t> counts;

  public:
    // `KIND[@DEVICE]:N[-M][=ERROR]`, with commas between. Says on stderr what it does not understand.
    explicit Failures(const std::string &text = "");
    // Counts one of this kind; its error if it is to fail.
    CUresult next(Kind kind, int device);
    // How many there were of each kind: "launch 5", a line each.
    std::string calls() const;
};
