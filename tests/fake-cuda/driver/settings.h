// The settings of the fake driver in the environment (README.md), and random numbers from its seed.
#pragma once

#include <stdint.h>

#include <map>
#include <string>

#include "api.h"

struct Settings {
    uint64_t seed = 1;
    int devices = 1;
    size_t memory_bytes = size_t(256) << 20; // of each device
    bool peer_access = true;
    bool races = true;
    bool uninitialised = true;
    bool trace = false;
    enum { No, Yes, WhenNeeded } thread = WhenNeeded;
    enum { Error, Report, Abort } findings = Error;
    int version = CUDA_VERSION; // of CUDA, as the driver says
    std::string fail; // `failure.cpp` reads it

    // Reads all `FAKE_CUDA_NAME`, overridden by the words `name=value` of `text`. Prints words that it does not
    // understand to stderr.
    static Settings read(const char *text);
};

// PCG (O'Neill 2014): good enough for this, and the same on all machines.
class Random {
    uint64_t state;

  public:
    explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15 + 0xDA3E39CB94B95BDB) { below(1); }
    unsigned below(unsigned end) {
        state = state * 6364136223846793005 + 1442695040888963407;
        uint32_t word = uint32_t(((state >> 18) ^ state) >> 27), turn = uint32_t(state >> 59);
        return unsigned((uint64_t(word >> turn | word << (-turn & 31)) * end) >> 32);
    }
};
