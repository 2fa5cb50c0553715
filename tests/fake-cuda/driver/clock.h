// Vector clocks (Fidge 1988, Mattern 1989): which operations happen before which, in whatever order they run.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <vector>

// The number of operations of each stream that have happened.
class VectorClock {
    std::vector<uint64_t> counts;

  public:
    uint64_t of(size_t stream) const { return stream < counts.size() ? counts[stream] : 0; }
    void set(size_t stream, uint64_t count) {
        if (stream >= counts.size()) counts.resize(stream + 1);
        counts[stream] = count;
    }
    void join(const VectorClock &other) {
        if (other.counts.size() > counts.size()) counts.resize(other.counts.size());
        for (size_t i = 0; i < other.counts.size(); i++) counts[i] = std::max(counts[i], other.counts[i]);
    }
};
