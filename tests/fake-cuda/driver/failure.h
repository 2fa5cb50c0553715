// Failures on demand: `FAKE_CUDA_FAIL=launch:5` and so on.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api.h"

// Kinds of calls; `Fault` counts kernels that run, `Body` bodies of conditional nodes that run, and `Lost` any call.
enum class Kind { Any, Init, Device, Context, Module, Alloc, HostAlloc, Free, Copy, Set, Launch, Stream, Event, Wait, Query, Graph, Library, Fault, Body, Lost };

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
    // `KIND[@DEVICE]:N[-M][=ERROR]`, separated by commas. Prints words that it does not understand to stderr.
    explicit Failures(const std::string &text = "");
    // Counts a call of this kind; returns its error if it is to fail.
    CUresult next(Kind kind, int device);
    // The number of calls of each kind: "launch 5", a line each.
    std::string calls() const;
};
